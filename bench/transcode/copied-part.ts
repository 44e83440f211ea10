/** A film whose own picture and sound are what would be made of them. */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import type { Bench } from "./bench.ts";
import { bare, posters } from "./ffmpeg-ways.ts";
import { type Cost, costOf, medianOf, sumOf } from "./measure.ts";
import { makeFilm } from "./source.ts";
import { byWorker } from "./worker-way.ts";

/** Of the bare way, which encodes everything. */
const cpuShareMax = 0.6;

export async function benchCopied({
  stack,
  report,
  profileName,
  seconds,
  rounds,
  planFor,
}: Bench): Promise<void> {
  const film = makeFilm(stack.dataDir, { seconds, conforms: true });
  const plan = await planFor(film);
  const [worker, limit]: Cost[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    worker!.push((await byWorker(stack, profileName, film)).cost);
    const to = path.join(stack.dataDir, "ways", "copied");
    mkdirSync(to, { recursive: true });
    const costs: Cost[] = [];
    for (const command of [bare(plan, film, to), ...posters(plan, film, to)])
      costs.push(await costOf(command, stack.dataDir));
    limit!.push(sumOf(costs));
    rmSync(to, { recursive: true });
  }
  const [a, b] = [medianOf(worker!), medianOf(limit!)];
  report.say(
    "COPIED: a film of the same length whose own stream is the largest rendition's, and its sound ours.",
  );
  report.table(
    ["", "CPU s", "wall s", "a / b, CPU"],
    [
      [
        "a  the worker, taking both over",
        a.cpuSeconds.toFixed(1),
        a.wallSeconds.toFixed(1),
        (a.cpuSeconds / b.cpuSeconds).toFixed(3),
      ],
      ["b  one bare FFmpeg, encoding all", b.cpuSeconds.toFixed(1), b.wallSeconds.toFixed(1), ""],
    ],
  );
  report.bound(a.cpuSeconds / b.cpuSeconds <= cpuShareMax, `copied, a/b is above ${cpuShareMax}`);
}
