/** Our own playlists, written from what was measured; FFmpeg's state wrong target durations for odd material. */
import { measureBandwidth } from "@reelkeep/core/hls/bandwidth";
import { stringifyMediaPlaylist, stringifyMultivariantPlaylist } from "@reelkeep/core/hls/stringify";
import type { MediaPlaylist, MultivariantPlaylist, Variant } from "@reelkeep/core/hls/types";
import { targetDurationOf } from "@reelkeep/core/hls/verify";
import { audioFolder, contentTypeOf, masterName, playlistName } from "@reelkeep/core/object-keys";
import type { EncodedTrack } from "./encode.ts";
import type { OutputStore } from "./output-store.ts";
import type { EncodePlan } from "./plan.ts";
import { withRetries } from "./retries.ts";

/** RFC 8216 §7: decimal durations need 3; checkers expect 6 beside EXT-X-INDEPENDENT-SEGMENTS. */
const version = 6;
const audioGroupId = "sound";

export const secondsOf = (track: EncodedTrack): number =>
  track.segments.reduce((sum, segment) => sum + segment.durationSeconds, 0);

/** Stores the media playlists, then the multivariant playlist that names them, which is returned. */
export async function storePlaylists(
  store: OutputStore,
  plan: EncodePlan,
  tracks: readonly EncodedTrack[],
  signal?: AbortSignal,
): Promise<MultivariantPlaylist> {
  const put = (name: string, text: string) =>
    withRetries(() => store.putText(name, text, contentTypeOf(name), signal), signal);
  for (const track of tracks)
    await put(playlistName(track.name), stringifyMediaPlaylist(mediaPlaylistOf(track)));
  const master = multivariantPlaylistOf(plan, tracks);
  await put(masterName, stringifyMultivariantPlaylist(master));
  return master;
}

/** The finished media playlist of a track, which lies in the folder of its segments. */
function mediaPlaylistOf(track: EncodedTrack): MediaPlaylist {
  return {
    kind: "media",
    version,
    targetDurationSeconds: targetDurationOf(track.segments.map(({ durationSeconds }) => durationSeconds)),
    mediaSequence: 1,
    playlistType: "VOD",
    independentSegments: true,
    ended: true,
    segments: track.segments.map(({ name, durationSeconds }) => ({
      uri: name.slice(name.lastIndexOf("/") + 1),
      durationSeconds,
      mapUri: null,
      discontinuity: false,
    })),
  };
}

/** The playlist of playlists, largest rendition first. Bandwidths are measured and include the sound. */
function multivariantPlaylistOf(plan: EncodePlan, tracks: readonly EncodedTrack[]): MultivariantPlaylist {
  const sound = tracks.find(({ name }) => name === audioFolder);
  const soundBandwidth = sound ? bandwidthOf(sound) : { peakBps: 0, averageBps: 0 };
  const variants = plan.renditions.map(({ name, width, height }): Variant => {
    const track = tracks.find((candidate) => candidate.name === name)!;
    const { peakBps, averageBps } = bandwidthOf(track);
    return {
      uri: playlistName(name),
      bandwidthBps: peakBps + soundBandwidth.peakBps,
      averageBandwidthBps: averageBps + soundBandwidth.averageBps,
      codecs: [track.codec, ...(sound ? [sound.codec] : [])],
      resolution: { width, height },
      frameRate: plan.frameRate,
      audioGroupId: sound ? audioGroupId : null,
      subtitlesGroupId: null,
      closedCaptions: "NONE",
    };
  });
  const renditions = plan.audio
    ? [
        {
          type: "AUDIO",
          groupId: audioGroupId,
          name: "Sound",
          language: plan.audio.language,
          uri: playlistName(audioFolder),
          isDefault: true,
          autoselect: true,
          channels: String(plan.audio.channels),
        } as const,
      ]
    : [];
  return { kind: "multivariant", version, independentSegments: true, renditions, variants };
}

const bandwidthOf = (track: EncodedTrack) =>
  measureBandwidth(track.segments, targetDurationOf(track.segments.map((s) => s.durationSeconds)));
