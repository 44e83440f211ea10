/**
 * Jobs, measured: what the database costs with a long history, how much it takes a second, what a poll of a status
 * costs, and a burst of uploads. Ends with code 1 where a bound is broken.
 *
 * Run: `npm run bench:jobs`, or one part of it: `npm run bench:jobs -- index`.
 * BENCH_BURST_UPLOADS: how many uploads the burst has, where 500 would take too long.
 */
import { benchBurst } from "./jobs/burst.ts";
import { benchIndex } from "./jobs/index-part.ts";
import { benchPolls } from "./jobs/polls.ts";
import { benchRates } from "./jobs/rates.ts";
import { createReport } from "./report.ts";

const parts = { index: benchIndex, rates: benchRates, polls: benchPolls, burst: benchBurst };

const names = Object.keys(parts) as (keyof typeof parts)[];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. There are: ${names.join(", ")}.`);
  process.exit(2);
}

const report = createReport();
for (const name of names) if (wanted.length === 0 || wanted.includes(name)) await parts[name](report);
if (report.broken.length > 0) {
  report.say(`${report.broken.length} of the bounds are broken:\n${report.broken.join("\n")}`);
  process.exitCode = 1;
}
