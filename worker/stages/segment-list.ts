/** Follows FFmpeg's own list of finished segments: the signal that a segment is whole. */
import { open, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseMediaPlaylist } from "@reelkeep/core/hls/parse";
import { type VideoFacts, videoFactsReader } from "@reelkeep/core/media/transport-stream";
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
  /** For pictures, of the frames that are there; exact once the next segment's beginning is known. */
  readonly durationSeconds: number;
  readonly sizeBytes: number;
  /** Null for sound. */
  readonly video: VideoFacts | null;
}

export interface SegmentList {
  /** The segments that were listed since the last call, in order. */
  readonly readNew: () => Promise<CutSegment[]>;
}

/**
 * FFmpeg replaces the list in one step, so every reading is a whole list; it is read only when it has grown. Its
 * durations are right for sound alone: for pictures they count frames at the nominal rate, which drifts where the
 * rate varies, so those are measured from the segment's time stamps.
 */
export function followSegmentList(
  folder: string,
  listPath: string,
  { frameSeconds, firstNumber }: { readonly frameSeconds: number; readonly firstNumber: number },
): SegmentList {
  let sizeSeen = -1;
  let count = 0;
  const describe = async (uri: string, listedSeconds: number, number: number): Promise<CutSegment> => {
    const path = join(dirname(listPath), uri);
    const { size: sizeBytes } = await stat(path);
    const video = await readVideoFacts(path);
    const durationSeconds = video
      ? video.lastSeconds - video.firstSeconds + frameSeconds
      : Math.max(listedSeconds, frameSeconds);
    return { folder, number, name: segmentName(folder, number), path, durationSeconds, sizeBytes, video };
  };
  return {
    async readNew() {
      const size = await stat(listPath).then(
        (found) => found.size,
        () => -1,
      );
      if (size === sizeSeen) return [];
      sizeSeen = size;
      const listed = parseMediaPlaylist(await readFile(listPath, "utf8")).segments.slice(count);
      const fresh: CutSegment[] = [];
      for (const { uri, durationSeconds } of listed)
        fresh.push(await describe(uri, durationSeconds, firstNumber + count++));
      return fresh;
    },
  };
}

/** One buffer for a whole file: a stream would make garbage of the file's size, outside V8's own limits. */
async function readVideoFacts(path: string): Promise<VideoFacts | null> {
  const reader = videoFactsReader();
  const buffer = new Uint8Array(65_536);
  await using file = await open(path);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return reader.facts();
    reader.push(buffer.subarray(0, bytesRead));
  }
}

/** The same segments, each lasting until the next begins; the last one's own frames decide. */
export function withExactDurations<Segment extends Pick<CutSegment, "durationSeconds" | "video">>(
  segments: readonly Segment[],
): Segment[] {
  return segments.map((segment, index) => {
    const next = segments[index + 1];
    if (!segment.video || !next?.video) return segment;
    return { ...segment, durationSeconds: next.video.firstSeconds - segment.video.firstSeconds };
  });
}
