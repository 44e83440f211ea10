/** What a worker costs, whole, beside what FFmpeg alone must cost and beside the common ways. */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import type { Bench } from "./bench.ts";
import { bare, eachByItself, normalisedFirst, ours, posters } from "./ffmpeg-ways.ts";
import { type Command, type Cost, costOf, medianOf, sumOf } from "./measure.ts";
import { compareWith, segmentsIn } from "./quality.ts";
import { makeFilm } from "./source.ts";
import { byWorker, fetchSegments } from "./worker-way.ts";

/** Of the whole, at most so much: a/b, a/c, a/d. */
const bounds = { bareCpu: 1.05, bareWall: 1.08, eachCpu: 0.82, normalisedCpu: 0.53 };
/** SSIM that our pictures may lose against the bare way's. */
const ssimLossMax = 0.002;

export async function benchLadder({
  stack,
  report,
  profileName,
  seconds,
  rounds,
  planFor,
}: Bench): Promise<void> {
  report.say(
    `LADDER: a film of ${seconds} s, 1080p30, into three renditions with sound; ${rounds} rounds in turns, medians.
x264 veryfast with the same rates and sizes everywhere. a is the worker's whole process tree on the local stack, from
its start to its end: claim, download, probe, encode, upload, posters, verification, publication; the storage server
isn't counted. The others write to the local disk, and each makes the posters too; b makes the storyboard.`,
  );
  const film = makeFilm(stack.dataDir, { seconds });
  const plan = await planFor(film);
  const folder = (name: string) => {
    const made = path.join(stack.dataDir, "ways", name);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const local = async (name: string, commands: (to: string) => Command[]): Promise<Cost> => {
    const to = folder(name);
    const costs: Cost[] = [];
    for (const command of [...commands(to), ...posters(plan, film, to)])
      costs.push(await costOf(command, stack.dataDir));
    return sumOf(costs);
  };
  let published = "";
  const ways = {
    worker: async () => {
      const { cost, prefix } = await byWorker(stack, profileName, film);
      published = prefix;
      return cost;
    },
    ours: () => local("ours", (to) => [ours(plan, film, to)]),
    bare: () => local("bare", (to) => [bare(plan, film, to)]),
    each: () => local("each", (to) => eachByItself(plan, film, to)),
    normalised: () => local("normalised", (to) => normalisedFirst(plan, film, to)),
  };
  const costs: Record<keyof typeof ways, Cost[]> = {
    worker: [],
    ours: [],
    bare: [],
    each: [],
    normalised: [],
  };
  for (let round = 0; round < rounds; round++)
    for (const name of Object.keys(ways) as (keyof typeof ways)[]) costs[name].push(await ways[name]());

  const of = Object.fromEntries(Object.entries(costs).map(([name, all]) => [name, medianOf(all)])) as Record<
    keyof typeof ways,
    Cost
  >;
  const titles = {
    worker: "a  the worker, end to end",
    ours: "   its FFmpeg command alone",
    bare: "b  one bare FFmpeg: the limit",
    each: "c  one FFmpeg for each rendition",
    normalised: "d  made into MP4 first, then c",
  };
  report.table(
    ["", "CPU s", "wall s", "a / this, CPU", "a / this, wall"],
    (Object.keys(titles) as (keyof typeof titles)[]).map((name) => [
      titles[name],
      of[name].cpuSeconds.toFixed(1),
      of[name].wallSeconds.toFixed(1),
      (of.worker.cpuSeconds / of[name].cpuSeconds).toFixed(3),
      (of.worker.wallSeconds / of[name].wallSeconds).toFixed(3),
    ]),
  );
  const ratio = (what: "cpuSeconds" | "wallSeconds", name: keyof typeof ways) =>
    of.worker[what] / of[name][what];
  report.bound(ratio("cpuSeconds", "bare") <= bounds.bareCpu, `a/b is above ${bounds.bareCpu} in CPU time`);
  report.bound(
    ratio("wallSeconds", "bare") <= bounds.bareWall,
    `a/b is above ${bounds.bareWall} in wall time`,
  );
  report.bound(ratio("cpuSeconds", "each") <= bounds.eachCpu, `a/c is above ${bounds.eachCpu}`);
  report.bound(
    ratio("cpuSeconds", "normalised") <= bounds.normalisedCpu,
    `a/d is above ${bounds.normalisedCpu}`,
  );

  report.say("QUALITY: SSIM of each rendition against the film scaled to its size, and its bits.");
  const rows: string[][] = [];
  for (const [index, rendition] of plan.renditions.entries()) {
    const to = folder(`fetched-${rendition.name}`);
    const a = await compareWith(
      film,
      await fetchSegments(stack, published, rendition.name, to),
      rendition,
      seconds,
    );
    rmSync(to, { recursive: true });
    const b = await compareWith(film, segmentsIn(folder("bare"), index), rendition, seconds);
    rows.push([
      rendition.name,
      ...[a.ssim, b.ssim].map((ssim) => ssim.toFixed(4)),
      ...[a, b].map(({ bitsPerSecond }) => `${Math.round(bitsPerSecond / 1000)} kb/s`),
    ]);
    report.bound(a.ssim >= b.ssim - ssimLossMax, `the worker's ${rendition.name} is worse than b's`);
  }
  report.table(["", "SSIM of a", "of b", "a", "b"], rows);
}
