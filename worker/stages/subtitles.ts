/** The source's subtitles as tracks of short WebVTT files (M4). */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseWebvtt, segmentWebvtt } from "@reelkeep/core/captions/webvtt";
import { segmentName } from "@reelkeep/core/object-keys";
import { clockStartSeconds, subtitlesArgs, subtitlesFileName } from "../ffmpeg/args.ts";
import { subtitlesLimits } from "../ffmpeg/limits.ts";
import { type RunWatch, run } from "../ffmpeg/run.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import type { EncodedTrack } from "./encode.ts";
import type { OutputStore } from "./output-store.ts";
import type { EncodePlan, PlannedSubtitles } from "./plan.ts";
import { putText } from "./put-file.ts";
import type { StoredSegment } from "./segment-uploader.ts";

/** All subtitles of a film of hours have less than this. */
const fileBytesMax = 16 * 1024 * 1024;

/**
 * Stores the subtitles that can be read, for a film of `durationSeconds`. They are extras: what can't be read, or
 * holds no words, is left out.
 * @throws what storage threw; or the signal's reason.
 */
export async function storeSubtitles(
  tools: MediaTools,
  plan: EncodePlan,
  sourcePath: string,
  workFolder: string,
  store: OutputStore,
  durationSeconds: number,
  watch: RunWatch = {},
): Promise<EncodedTrack[]> {
  const { subtitles } = plan;
  if (subtitles.length === 0) return [];
  const extract = async (some: readonly PlannedSubtitles[]) =>
    (
      await run(tools, "ffmpeg", subtitlesArgs(some, sourcePath), {
        ...watch,
        cwd: workFolder,
        files: { read: [sourcePath], write: [workFolder] },
        limits: subtitlesLimits,
      })
    ).exitCode === 0;
  // One look through the file for all; where one of them fails, each by itself.
  if (!(await extract(subtitles))) for (const one of subtitles) await extract([one]);

  const tracks: EncodedTrack[] = [];
  for (const { folder } of subtitles) {
    const path = join(workFolder, subtitlesFileName(folder));
    const text = await readFile(path, "utf8").catch(() => "");
    await rm(path, { force: true });
    const cues = text.length <= fileBytesMax ? parseWebvtt(text) : [];
    if (cues.length === 0) continue;
    const files = segmentWebvtt(cues, {
      durationSeconds,
      segmentSeconds: plan.segmentSeconds,
      clockOffsetSeconds: clockStartSeconds,
    });
    const segments: StoredSegment[] = [];
    for (const [i, file] of files.entries()) {
      const stored = await putText(store, segmentName(folder, i + 1, "vtt"), file.text, watch.signal);
      segments.push({ ...stored, folder, number: i + 1, durationSeconds: file.durationSeconds, video: null });
      watch.onMove?.();
    }
    tracks.push({ kind: "subtitles", name: folder, codec: "wvtt", segments });
  }
  return tracks;
}
