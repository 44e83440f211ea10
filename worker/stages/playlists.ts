/** Our own playlists, written from what was measured; FFmpeg's state wrong target durations for odd material. */
import { measureBandwidth } from "@reelkeep/core/hls/bandwidth";
import { stringifyMediaPlaylist, stringifyMultivariantPlaylist } from "@reelkeep/core/hls/stringify";
import type {
  AlternativeRendition,
  MediaPlaylist,
  MediaSegment,
  MultivariantPlaylist,
  Variant,
} from "@reelkeep/core/hls/types";
import { targetDurationOf } from "@reelkeep/core/hls/verify";
import { masterName, playlistName } from "@reelkeep/core/object-keys";
import type { EncodedTrack } from "./encode.ts";
import type { OutputStore } from "./output-store.ts";
import type { EncodePlan, PlannedSound, PlannedSubtitles } from "./plan.ts";
import { putText } from "./put-file.ts";

/** RFC 8216 §7: decimal durations need 3; checkers expect 6 beside EXT-X-INDEPENDENT-SEGMENTS. */
export const playlistVersion = 6;
const soundGroupId = "sound";
const subtitlesGroupId = "subtitles";

export const secondsOf = (track: EncodedTrack): number =>
  track.segments.reduce((sum, segment) => sum + segment.durationSeconds, 0);

/** One for all playlists of a version, as RFC 8216 §6.2.4 wants it; subtitles may differ and needn't. */
export const targetSecondsOf = (tracks: readonly EncodedTrack[]): number =>
  targetDurationOf(tracks.flatMap(({ segments }) => segments.map((segment) => segment.durationSeconds)));

/** Stores the media playlists, then the multivariant playlist that names them, which is returned. */
export async function storePlaylists(
  store: OutputStore,
  plan: EncodePlan,
  tracks: readonly EncodedTrack[],
  signal?: AbortSignal,
): Promise<MultivariantPlaylist> {
  const targetSeconds = targetSecondsOf(tracks);
  for (const track of tracks) {
    const text = stringifyMediaPlaylist(mediaPlaylistOf(track, targetSeconds));
    await putText(store, playlistName(track.name), text, signal);
  }
  const master = multivariantPlaylistOf(plan, tracks);
  await putText(store, masterName, stringifyMultivariantPlaylist(master), signal);
  return master;
}

/** The finished media playlist of a track, which lies in the folder of its segments. */
function mediaPlaylistOf(track: EncodedTrack, targetDurationSeconds: number): MediaPlaylist {
  return {
    kind: "media",
    version: playlistVersion,
    targetDurationSeconds,
    mediaSequence: 1,
    playlistType: "VOD",
    independentSegments: true,
    ended: true,
    segments: track.segments.map(playlistSegment),
  };
}

/** A segment as its media playlist, which lies beside it, lists it. */
export const playlistSegment = (segment: { name: string; durationSeconds: number }): MediaSegment => ({
  uri: segment.name.slice(segment.name.lastIndexOf("/") + 1),
  durationSeconds: segment.durationSeconds,
  mapUri: null,
  discontinuity: false,
});

/** What a multivariant playlist lists. */
interface Listing {
  readonly sounds: readonly PlannedSound[];
  readonly subtitles: readonly PlannedSubtitles[];
  /** Rates with the sound's. */
  readonly variants: readonly (Pick<Variant, "bandwidthBps" | "averageBandwidthBps"> & {
    readonly name: string;
    readonly width: number;
    readonly height: number;
    /** The picture's. */
    readonly codec: string;
  })[];
}

/** AAC-LC, the only kind of sound. */
const soundCodec = "mp4a.40.2";

export function multivariantPlaylist(
  { frameRate }: Pick<EncodePlan, "frameRate">,
  { sounds, subtitles, variants }: Listing,
): MultivariantPlaylist {
  const rendition = (track: { folder: string; name: string; language: string | null }) => ({
    name: track.name,
    language: track.language,
    uri: playlistName(track.folder),
    autoselect: true,
  });
  const renditions: AlternativeRendition[] = [
    ...sounds.map(
      (sound, i): AlternativeRendition => ({
        ...{ type: "AUDIO", groupId: soundGroupId, ...rendition(sound) },
        ...{ isDefault: i === 0, isForced: false, channels: String(sound.channels) },
      }),
    ),
    ...subtitles.map(
      (track): AlternativeRendition => ({
        ...{ type: "SUBTITLES", groupId: subtitlesGroupId, ...rendition(track) },
        ...{ isDefault: false, isForced: track.isForced, channels: null },
      }),
    ),
  ];
  return {
    kind: "multivariant",
    version: playlistVersion,
    independentSegments: true,
    renditions,
    variants: variants.map(({ name, width, height, codec, ...rates }) => ({
      uri: playlistName(name),
      ...rates,
      codecs: [codec, ...(sounds.length > 0 ? [soundCodec] : [])],
      resolution: { width, height },
      frameRate,
      audioGroupId: sounds.length > 0 ? soundGroupId : null,
      subtitlesGroupId: subtitles.length > 0 ? subtitlesGroupId : null,
      closedCaptions: "NONE",
    })),
  };
}

/** The playlist of playlists, largest rendition first. Bandwidths are measured and include the loudest sound track. */
function multivariantPlaylistOf(plan: EncodePlan, tracks: readonly EncodedTrack[]): MultivariantPlaylist {
  const find = (folder: string) => tracks.find(({ name }) => name === folder);
  const targetSeconds = targetSecondsOf(tracks);
  const bandwidthOf = (track: EncodedTrack) => measureBandwidth(track.segments, targetSeconds);
  const sounds = plan.sounds.map(({ folder }) => bandwidthOf(find(folder)!));
  const soundPeakBps = Math.max(0, ...sounds.map(({ peakBps }) => peakBps));
  const soundAverageBps = Math.max(0, ...sounds.map(({ averageBps }) => averageBps));
  return multivariantPlaylist(plan, {
    sounds: plan.sounds,
    subtitles: plan.subtitles.filter(({ folder }) => find(folder)),
    variants: plan.renditions.map(({ name, width, height }) => {
      const track = find(name)!;
      const { peakBps, averageBps } = bandwidthOf(track);
      return {
        ...{ name, width, height, codec: track.codec },
        bandwidthBps: peakBps + soundPeakBps,
        averageBandwidthBps: averageBps + soundAverageBps,
      };
    }),
  });
}
