/** Pictures that may stand for the video (M11). */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { posterName } from "@reelkeep/core/object-keys";
import { posterArgs } from "../ffmpeg/args.ts";
import { posterLimits } from "../ffmpeg/limits.ts";
import { type RunWatch, run } from "../ffmpeg/run.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import type { OutputStore } from "./output-store.ts";
import type { EncodePlan } from "./plan.ts";
import { putFile } from "./put-file.ts";

const suggestions = 3;

/**
 * Stores up to three suggestions from different parts of the film, none of them black or the same; where all of it is black,
 * its very first picture. Returns their names, the first of which stands for the video until somebody chooses. There
 * may be none: a video is published without one.
 */
export async function storePosters(
  tools: MediaTools,
  plan: EncodePlan,
  sourcePath: string,
  workFolder: string,
  store: OutputStore,
  watch: RunWatch = {},
): Promise<string[]> {
  const names: string[] = [];
  const pictures = new Set<string>();
  const make = async (at: { seconds: number; lit: boolean }) => {
    const name = posterName(names.length + 1);
    const path = join(workFolder, name);
    await run(tools, "ffmpeg", posterArgs(plan, sourcePath, path, at), {
      // What it says is no sign that the film moves; that a picture is done is one.
      signal: watch.signal,
      files: { read: [sourcePath], write: [workFolder] },
      limits: posterLimits,
    }).catch(unlessTooDemanding);
    const picture = await readFile(path, "base64").catch(() => "");
    if (picture !== "" && !pictures.has(picture)) {
      await putFile(store, name, path, watch.signal);
      names.push(name);
      pictures.add(picture);
    }
    await rm(path, { force: true });
    watch.onMove?.();
  };
  for (const seconds of plan.posterAtSeconds)
    if (names.length < suggestions) await make({ seconds, lit: true });
  if (names.length === 0) await make({ seconds: 0, lit: false });
  return names;
}

/** The video is there; one picture of it isn't worth more than its limits. */
function unlessTooDemanding(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== "too-demanding") throw error;
}
