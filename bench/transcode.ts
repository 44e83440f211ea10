/**
 * One film into its ladder, measured: what the worker costs beside FFmpeg alone and beside the common ways, what a film
 * costs that is taken over, memory at any length, how soon a preview plays, and what a retry saves. Ends with code 1
 * where a bound is broken.
 *
 * Run: `npm run bench:transcode`, or one part of it: `npm run bench:transcode -- ladder`.
 * BENCH_FILM_SECONDS and BENCH_ROUNDS for less than 120 seconds and 3 rounds.
 */
import { findProfile } from "@reelkeep/core/media/profile";
import { findMediaTools } from "@reelkeep/worker/ffmpeg/tools";
import { planEncode } from "@reelkeep/worker/stages/plan";
import { probeSource } from "@reelkeep/worker/stages/probe";
import { createReport } from "./report.ts";
import { startBenchStack } from "./stack.ts";
import { benchCopied } from "./transcode/copied-part.ts";
import { benchLadder } from "./transcode/ladder-part.ts";
import { benchLengths } from "./transcode/lengths-part.ts";
import { benchPreview } from "./transcode/preview-part.ts";
import { benchRetry } from "./transcode/retry-part.ts";

const parts = {
  ladder: benchLadder,
  copied: benchCopied,
  preview: benchPreview,
  retry: benchRetry,
  lengths: benchLengths,
};
const names = Object.keys(parts) as (keyof typeof parts)[];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. There are: ${names.join(", ")}.`);
  process.exit(2);
}

const profileName = "hls-ts-lite-v1";
const profile = findProfile(profileName)!;
const report = createReport();
const tools = await findMediaTools(process.env);
const stack = await startBenchStack({ PROFILE: profileName });
try {
  const bench = {
    ...{ stack, report, profileName },
    seconds: Number(process.env.BENCH_FILM_SECONDS ?? 120),
    rounds: Number(process.env.BENCH_ROUNDS ?? 3),
    planFor: async (film: string) => planEncode(await probeSource(tools, film, profile), profile),
  };
  for (const name of names) if (wanted.length === 0 || wanted.includes(name)) await parts[name](bench);
} finally {
  await stack.stop();
}
if (report.broken.length > 0) {
  report.say(`${report.broken.length} of the bounds are broken:\n${report.broken.join("\n")}`);
  process.exitCode = 1;
}
