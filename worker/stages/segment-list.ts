/** Follows FFmpeg's own list of finished segments: the signal that a segment is whole. */
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseMediaPlaylist } from "@reelkeep/core/hls/parse";
import { segmentName } from "@reelkeep/core/object-keys";

/** A segment that FFmpeg has finished. */
export interface CutSegment {
  /** The rendition's folder, or `audio`. */
  readonly folder: string;
  /** From 1. */
  readonly number: number;
  /** Below the version's prefix. */
  readonly name: string;
  readonly path: string;
  readonly durationSeconds: number;
  readonly sizeBytes: number;
}

export interface SegmentList {
  /** The segments that were listed since the last call, in order. */
  readonly readNew: () => Promise<CutSegment[]>;
}

/**
 * FFmpeg replaces the list in one step, so every reading is a whole list; it is read only when it has grown.
 * FFmpeg counts a segment of a single frame as no time at all; it gets `shortestSeconds`.
 */
export function followSegmentList(folder: string, listPath: string, shortestSeconds: number): SegmentList {
  let sizeSeen = -1;
  let count = 0;
  return {
    async readNew() {
      const size = await stat(listPath).then(
        (found) => found.size,
        () => -1,
      );
      if (size === sizeSeen) return [];
      sizeSeen = size;
      const listed = parseMediaPlaylist(await readFile(listPath, "utf8")).segments.slice(count);
      const fresh = await Promise.all(
        listed.map(async ({ uri, durationSeconds }, index) => {
          const number = count + index + 1;
          const path = join(dirname(listPath), uri);
          const { size: sizeBytes } = await stat(path);
          return {
            folder,
            number,
            name: segmentName(folder, number),
            path,
            durationSeconds: Math.max(durationSeconds, shortestSeconds),
            sizeBytes,
          };
        }),
      );
      count += fresh.length;
      return fresh;
    },
  };
}
