/**
 * `npm test` (and `npm run e2e`, which leaves out the first part): unit, database, storage and worker tests by
 * Vitest, faults between real processes in their short form, then a real browser by Playwright. The last line sums up
 * all; any failure fails the whole. `npm run test:faults` runs all faults and the long form of the model test, and ends
 * with a table of what held and the same line. `npm run test:corpus` does so for real files from the field.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { buildSite, makeSample } from "./build.ts";
import { bundle } from "./bundle.ts";
import { repositoryRoot } from "./repository.ts";

/** How many tests passed and failed. A runner that ended badly without saying which counts as one failure. */
interface Totals {
  readonly passed: number;
  readonly failed: number;
}

const resultsFolder = path.join(repositoryRoot, "dist", "test-results");

function runVitest(args: readonly string[], env: Record<string, string> = {}): Totals {
  const results = path.join(resultsFolder, "vitest.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
  const succeeded = runProgram("vitest", ["run", ...reporters, ...args], env);
  const counts = readResults(results, z.object({ numPassedTests: z.number(), numFailedTests: z.number() }));
  return total(succeeded, counts?.numPassedTests, counts?.numFailedTests);
}

async function runPlaywright(args: readonly string[]): Promise<Totals> {
  try {
    await bundle();
    await makeSample(process.env.FFMPEG_PATH || "ffmpeg");
    await buildSite();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return total(false);
  }
  const results = path.join(resultsFolder, "playwright.json");
  const succeeded = runProgram("playwright", ["test", "--pass-with-no-tests", ...args], {
    PLAYWRIGHT_JSON_OUTPUT_FILE: results,
  });
  const counts = z.object({ expected: z.number(), flaky: z.number(), unexpected: z.number() });
  const stats = readResults(results, z.object({ stats: counts }))?.stats;
  return total(succeeded, stats && stats.expected + stats.flaky, stats?.unexpected);
}

const total = (succeeded: boolean, passed = 0, failed = 0): Totals => ({
  passed,
  failed: succeeded ? failed : Math.max(1, failed),
});

function runProgram(name: string, args: readonly string[], env: Record<string, string> = {}): boolean {
  const { status } = spawnSync(path.join(repositoryRoot, "node_modules", ".bin", name), args, {
    cwd: repositoryRoot,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return status === 0;
}

function readResults<T>(file: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

const faults = ["--config", "e2e/faults/vitest.config.ts"];
const table = `--reporter=${path.join(repositoryRoot, "local", "testing", "table-reporter.ts")}`;

/** Sequences that the model test draws in `test:faults`; `npm test` draws its few. `MODEL_RUNS` asks for others. */
const longModelRuns = process.env.MODEL_RUNS || "1000";

const parts = ["--only-browser", "--only-faults", "--only-corpus"] as const;
const onlyOf = (word: string | undefined) => parts.find((part) => part === word) ?? null;

async function main(): Promise<number> {
  rmSync(resultsFolder, { recursive: true, force: true });
  mkdirSync(resultsFolder, { recursive: true });
  const [first, ...rest] = process.argv.slice(2);
  const only = onlyOf(first);
  const args = only ? rest : process.argv.slice(2);
  const runs: Totals[] = [];
  if (only === "--only-faults") {
    if (args.length === 0) runs.push(runVitest(["services/jobs-model"], { MODEL_RUNS: longModelRuns }));
    runs.push(runVitest([...faults, table, ...args]));
  } else if (only === "--only-corpus") {
    runs.push(runVitest([...(args.length > 0 ? args : ["worker/corpus"]), table]));
  } else {
    if (!only) runs.push(runVitest(args));
    if (!only && args.length === 0) runs.push(runVitest([...faults, "--tags-filter=short"]));
    // Arguments choose tests of one runner and mean nothing to the other.
    if (only || args.length === 0) runs.push(await runPlaywright(args));
  }
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

process.exit(await main());
