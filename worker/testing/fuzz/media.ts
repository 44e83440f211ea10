/**
 * `npm run fuzz:media`: damaged files on the whole way of a video. Whatever a file is, it becomes a whole video or is
 * refused for good with a reason of ours; nothing hangs, nothing is left behind, and asked again the answer is the
 * same. Ends with a table of outcomes; files that broke a rule are kept, and the status is then 1.
 *
 * FUZZ_SECONDS (60), FUZZ_SEED (from the clock), FUZZ_CASE (one case of that seed alone), FUZZ_KEEP (a folder).
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { type EncodingProfile, hlsTsV1 } from "@reelkeep/core/media/profile";
import { transcodeInto } from "../media.ts";
import { judgeLeftovers, judgeOutput, judgeRefusal } from "./judge.ts";
import { mutate } from "./mutate.ts";
import { randomOf } from "./random.ts";
import { collectSeeds, type Seed } from "./seeds.ts";

/** Small and short: what is looked for are wrong answers, not work. */
const profile: EncodingProfile = {
  ...hlsTsV1,
  rungs: [{ ...hlsTsV1.rungs[0]!, shortSidePx: 96 }],
  limits: { durationSecondsMax: 600 },
};
const atOnce = 2;
/** Beyond every limit of a stage that such files may use up. */
const hangSeconds = 300;
/** So many cases are asked twice. */
const oneInTwice = 6;

interface Outcome {
  /** `video`, or the code of a refusal. */
  readonly verdict: string;
  /** The rule that was broken, in words. */
  readonly fault: string | null;
}

async function transcodeCase(folder: string, path: string): Promise<Outcome> {
  await rm(folder, { recursive: true, force: true });
  const signal = AbortSignal.timeout(hangSeconds * 1000);
  let verdict = "video";
  let fault: string | null;
  let refused = false;
  try {
    const { durationSeconds } = await transcodeInto(folder, path, { profile, signal });
    verdict += ` of ${durationSeconds.toFixed(1)} s`;
    fault = await judgeOutput(join(folder, "out"));
  } catch (error) {
    refused = true;
    verdict = error instanceof AppError ? error.code : "thrown";
    fault = signal.aborted ? `hangs for more than ${hangSeconds} s` : judgeRefusal(error);
  }
  if (refused && !fault && (await judgeOutput(join(folder, "out")).catch(() => "none")) === null)
    fault = "leaves a whole output behind a refusal";
  return { verdict, fault: fault ?? (await judgeLeftovers(folder, join(folder, "scratch"))) };
}

async function runCase(root: string, seeds: readonly Seed[], seed: number, number: number) {
  const random = randomOf(seed ^ Math.imul(number + 1, 0x9e3779b1));
  const source = random.pick(seeds);
  const { bytes, how } = mutate(random, source.bytes, random.pick(seeds).bytes);
  const twice = random.below(oneInTwice) === 0;
  const folder = join(root, `case-${number}`);
  const path = join(root, `source-${number}`);
  await writeFile(path, bytes);
  let { verdict, fault } = await transcodeCase(folder, path);
  if (!fault && twice) {
    const again = await transcodeCase(folder, path);
    if (again.verdict !== verdict) fault = `first ${verdict}, then ${again.verdict}`;
    fault ??= again.fault;
  }
  await rm(folder, { recursive: true, force: true });
  await rm(path);
  return { number, bytes, about: `${source.name} ${how}`, verdict: verdict.split(" ")[0]!, fault };
}

async function main(): Promise<number> {
  const env = process.env;
  const seed = Number(env.FUZZ_SEED ?? Date.now() % 2 ** 31);
  const only = env.FUZZ_CASE === undefined ? null : Number(env.FUZZ_CASE);
  const seconds = Number(env.FUZZ_SECONDS ?? 60);
  const keep = env.FUZZ_KEEP ?? join(tmpdir(), "reelkeep-fuzz", String(seed));
  const root = await mkdtemp(join(tmpdir(), "reelkeep-fuzzing-"));
  const counts = new Map<string, number>();
  let faults = 0;
  try {
    const seeds = await collectSeeds(root, join(import.meta.dirname, "../../../../shared/corpus"));
    console.log(`FUZZ_SEED=${seed}, ${seeds.length} files to damage, ${seconds} s`);
    const endsAt = Date.now() + seconds * 1000;
    let next = only ?? 0;
    const work = async () => {
      while (only === null ? Date.now() < endsAt : next === only) {
        const { number, bytes, about, verdict, fault } = await runCase(root, seeds, seed, next++);
        counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
        if (!fault) continue;
        faults++;
        await mkdir(keep, { recursive: true });
        await writeFile(join(keep, `case-${number}`), bytes);
        console.log(`\nFUZZ_CASE=${number} (${about}): ${fault}\n  kept as ${join(keep, `case-${number}`)}`);
      }
    };
    await Promise.all(Array.from({ length: only === null ? atOnce : 1 }, work));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  const rows = [...counts].toSorted(([, a], [, b]) => b - a);
  console.log(
    [
      "",
      "Outcome                 Files",
      ...rows.map(([name, count]) => name.padEnd(20) + String(count).padStart(9)),
    ].join("\n"),
  );
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  console.log(`\n${total} damaged files, ${faults} broke a rule (FUZZ_SEED=${seed})`);
  return faults === 0 ? 0 : 1;
}

process.exitCode = await main();
