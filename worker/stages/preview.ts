/** The part that is ready, playable while the rest is being made (M10): the smallest rendition and the default sound. */
import { stringifyMediaPlaylist, stringifyMultivariantPlaylist } from "@reelkeep/core/hls/stringify";
import type { MediaSegment } from "@reelkeep/core/hls/types";
import { avcCodecString } from "@reelkeep/core/media/h264-level";
import { playlistName, previewName } from "@reelkeep/core/object-keys";
import type { OutputStore } from "./output-store.ts";
import type { EncodePlan } from "./plan.ts";
import { multivariantPlaylist, playlistSegment, playlistVersion } from "./playlists.ts";
import { putText } from "./put-file.ts";
import type { StoredSegment } from "./segment-uploader.ts";

export interface PreviewWriter {
  /** A stored segment of any folder. Settles once the preview has been written with it, or doesn't need it. */
  add(segment: StoredSegment): Promise<void>;
  /** Waits for what is being written: nothing is written afterwards. */
  settle(): Promise<void>;
}

/** A copied segment's. */
const longestSegmentSeconds = 10;

/**
 * Writes `preview.m3u8` and growing media playlists below the names of the finished ones, which replace them. A
 * preview that can't be written is no failure: storage's troubles show in what matters.
 */
export function previewWriter(store: OutputStore, plan: EncodePlan, signal?: AbortSignal): PreviewWriter {
  const rendition = plan.renditions.at(-1)!;
  const sound = plan.sounds[0];
  const stored = new Map(
    [rendition.name, ...(sound ? [sound.folder] : [])].map((folder) => [
      folder,
      new Map<number, StoredSegment>(),
    ]),
  );
  const written = new Map<string, number>();
  let writing: Promise<void> | null = null;
  let hasPreview = false;
  let isClosed = false;

  /** The segments from the first on without a gap. */
  const ready = (folder: string): StoredSegment[] => {
    const segments = stored.get(folder)!;
    const list: StoredSegment[] = [];
    for (let segment = segments.get(1); segment; segment = segments.get(segment.number + 1))
      list.push(segment);
    return list;
  };
  const write = async () => {
    for (const folder of stored.keys()) {
      const segments = ready(folder);
      if (segments.length === (written.get(folder) ?? 0)) continue;
      await putText(
        store,
        playlistName(folder),
        growingPlaylist(segments.map(playlistSegment)),
        signal,
        true,
      );
      written.set(folder, segments.length);
    }
    if (hasPreview || written.size < stored.size) return;
    const { avc } = stored.get(rendition.name)!.get(1)!.video!;
    await putText(store, previewName, previewPlaylist(plan, avc ? avcCodecString(avc) : ""), signal);
    hasPreview = true;
  };

  return {
    async add(segment) {
      const mine = stored.get(segment.folder);
      if (!mine || isClosed) return;
      mine.set(segment.number, segment);
      // One at a time; what comes meanwhile is in the next one.
      while (writing) await writing;
      writing = write()
        .catch(() => {})
        .finally(() => {
          writing = null;
        });
      await writing;
    },
    async settle() {
      isClosed = true;
      while (writing) await writing;
    },
  };
}

const growingPlaylist = (segments: readonly MediaSegment[]): string =>
  stringifyMediaPlaylist({
    ...{ kind: "media", version: playlistVersion, mediaSequence: 1, playlistType: "EVENT" },
    targetDurationSeconds: Math.max(
      longestSegmentSeconds,
      ...segments.map(({ durationSeconds }) => Math.round(durationSeconds)),
    ),
    independentSegments: true,
    ended: false,
    segments,
  });

/** Rates as planned: they aren't known yet. */
const previewPlaylist = (plan: EncodePlan, codec: string): string => {
  const { name, width, height, maxRateBps } = plan.renditions.at(-1)!;
  const [sound] = plan.sounds;
  return stringifyMultivariantPlaylist(
    multivariantPlaylist(plan, {
      sounds: sound ? [sound] : [],
      subtitles: [],
      variants: [
        {
          name,
          ...{ width, height },
          codec,
          bandwidthBps: maxRateBps + (sound?.bitRateBps ?? 0),
          averageBandwidthBps: null,
        },
      ],
    }),
  );
};
