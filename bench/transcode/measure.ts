import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { median } from "../report.ts";

/** What a program and everything that it started have cost. */
export interface Cost {
  /** User and system time of the whole process tree. */
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
}

/** What is run: a program, its arguments, and what it is told. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/**
 * Runs a command to its end. Its cost is what the shell's `time` says: the kernel adds up every descendant that was
 * waited for. getrusage(2), RUSAGE_CHILDREN.
 *
 * @throws Error with the end of its log where it fails.
 */
export async function costOf({ program, args, env, cwd }: Command, folder: string): Promise<Cost> {
  const [log, times] = [path.join(folder, "command.log"), path.join(folder, "times")];
  const script = `TIMEFORMAT='%3U %3S %3R'; { time "$@" >"$LOG" 2>&1; } 2>"$TIMES"`;
  const shell = spawn("bash", ["-c", script, "bash", program, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env, LOG: log, TIMES: times, LC_ALL: "C" },
  });
  const [code] = await once(shell, "close");
  if (code !== 0)
    throw new Error(`${path.basename(program)} failed: ${readFileSync(log, "utf8").slice(-2000)}`);
  const [user, system, wall] = readFileSync(times, "utf8").trim().split(" ").map(Number);
  for (const file of [log, times]) rmSync(file);
  return { cpuSeconds: user! + system!, wallSeconds: wall! };
}

export const sumOf = (costs: readonly Cost[]): Cost => ({
  cpuSeconds: costs.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
  wallSeconds: costs.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0),
});

export const medianOf = (costs: readonly Cost[]): Cost => ({
  cpuSeconds: median(costs.map(({ cpuSeconds }) => cpuSeconds)),
  wallSeconds: median(costs.map(({ wallSeconds }) => wallSeconds)),
});
