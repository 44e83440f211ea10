/** One picture that stands for the video until somebody chooses another. */
import { stat } from "node:fs/promises";
import { posterArgs } from "../ffmpeg/args.ts";
import { type RunWatch, run } from "../ffmpeg/run.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import type { EncodePlan } from "./plan.ts";

/**
 * Writes a JPEG to `outputPath`: near the plan's time, later where it is black there, and the very first frame
 * where it is black everywhere. Returns false when there is none to be had: a video is published without one.
 */
export async function makePoster(
  tools: MediaTools,
  plan: EncodePlan,
  sourcePath: string,
  outputPath: string,
  watch: RunWatch = {},
): Promise<boolean> {
  const places = [
    { seconds: plan.posterAtSeconds, lit: true },
    { seconds: plan.expectedSeconds * 0.3, lit: true },
    { seconds: plan.expectedSeconds * 0.6, lit: true },
    { seconds: 0, lit: false },
  ];
  for (const place of places) {
    await run(tools, "ffmpeg", posterArgs(plan, sourcePath, outputPath, place), {
      ...watch,
      timeoutSeconds: 120,
    });
    const size = await stat(outputPath).then(
      (found) => found.size,
      () => 0,
    );
    if (size > 0) return true;
  }
  return false;
}
