/**
 * One film into its ladder: what the worker costs, whole, beside what FFmpeg alone must cost and beside the common
 * ways. Ends with code 1 where a bound is broken.
 *
 * Run: `npm run bench:transcode`; BENCH_FILM_SECONDS and BENCH_ROUNDS for less than 120 seconds and 3 rounds.
 */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { findProfile } from "@reelkeep/core/media/profile";
import { findMediaTools } from "@reelkeep/worker/ffmpeg/tools";
import { type EncodePlan, planEncode } from "@reelkeep/worker/stages/plan";
import { probeSource } from "@reelkeep/worker/stages/probe";
import { createReport } from "./report.ts";
import { startBenchStack } from "./stack.ts";
import { bare, eachByItself, normalisedFirst, ours, posters } from "./transcode/ffmpeg-ways.ts";
import { type Command, type Cost, costOf, medianOf, sumOf } from "./transcode/measure.ts";
import { compareWith, segmentsIn } from "./transcode/quality.ts";
import { makeFilm } from "./transcode/source.ts";
import { byWorker, fetchSegments } from "./transcode/worker-way.ts";

const seconds = Number(process.env.BENCH_FILM_SECONDS ?? 120);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const profileName = "hls-ts-lite-v1";

/** Of the whole, at most so much: a/b, a/c, a/d. */
const bounds = { bareCpu: 1.05, bareWall: 1.08, eachCpu: 0.82, normalisedCpu: 0.53, copiedCpu: 0.6 };

const report = createReport();
const stack = await startBenchStack({ PROFILE: profileName });
try {
  report.say(
    `TRANSCODE: a film of ${seconds} s, 1080p30, into three renditions with sound; ${rounds} rounds in turns, medians.
x264 veryfast with the same rates and sizes everywhere. a is the worker's whole process tree on the local stack, from
its start to its end: claim, download, probe, encode, upload, poster, verification, publication; the storage server
isn't counted. The others write to the local disk, and each makes the posters too; b makes the storyboard.`,
  );
  const film = makeFilm(stack.dataDir, { seconds });
  const profile = findProfile(profileName)!;
  const tools = await findMediaTools(process.env);
  const plan = planEncode(await probeSource(tools, film, profile), profile);
  await measure(plan, film);
  await measureCopied(makeFilm(stack.dataDir, { seconds, conforms: true }));
} finally {
  await stack.stop();
}
if (report.broken.length > 0) {
  report.say(`${report.broken.length} of the bounds are broken:\n${report.broken.join("\n")}`);
  process.exitCode = 1;
}

async function measure(plan: EncodePlan, film: string): Promise<void> {
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
  const ratio = (what: keyof Cost, name: keyof typeof ways) => of.worker[what] / of[name][what];
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
    report.bound(a.ssim >= b.ssim - 0.002, `the worker's ${rendition.name} is worse than b's`);
  }
  report.table(["", "SSIM of a", "of b", "a", "b"], rows);
}

/** A film whose own picture and sound are what would be made of them. */
async function measureCopied(film: string): Promise<void> {
  const profile = findProfile(profileName)!;
  const tools = await findMediaTools(process.env);
  const plan = planEncode(await probeSource(tools, film, profile), profile);
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
  report.bound(a.cpuSeconds / b.cpuSeconds <= bounds.copiedCpu, `copied, a/b is above ${bounds.copiedCpu}`);
}
