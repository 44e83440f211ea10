import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
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

/** Where Linux counts the processor time of a group of processes: cgroups(7), version 2 or the older one. */
const accounts = [
  {
    parent: "/sys/fs/cgroup",
    isHere: () => existsSync("/sys/fs/cgroup/cgroup.controllers"),
    seconds: (group: string) =>
      Number(/usage_usec (\d+)/.exec(readFileSync(`${group}/cpu.stat`, "utf8"))?.[1]) / 1e6,
  },
  {
    parent: "/sys/fs/cgroup/cpuacct",
    isHere: () => existsSync("/sys/fs/cgroup/cpuacct/cpuacct.usage"),
    seconds: (group: string) => Number(readFileSync(`${group}/cpuacct.usage`, "utf8")) / 1e9,
  },
] as const;

/**
 * Runs a command to its end and answers what it has cost, in a control group of its own: a cage leaves before the
 * kernel could add its children's time to it, so what `time` says would be far too little.
 *
 * @throws Error with the end of its log where it fails; where there are no control groups to make.
 */
export async function costOf({ program, args, env, cwd }: Command, folder: string): Promise<Cost> {
  const account = accounts.find(({ isHere }) => isHere());
  if (!account) throw new Error("This benchmark needs Linux's control groups.");
  const group = path.join(account.parent, `reelkeep-bench-${process.pid}`);
  mkdirSync(group);
  const log = path.join(folder, "command.log");
  try {
    const script = `echo $$ >"$GROUP/cgroup.procs" && exec "$@" >"$LOG" 2>&1`;
    const startedMs = performance.now();
    const shell = spawn("bash", ["-c", script, "bash", program, ...args], {
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, ...env, LOG: log, GROUP: group },
    });
    const [code] = await once(shell, "close");
    const wallSeconds = (performance.now() - startedMs) / 1000;
    if (code !== 0)
      throw new Error(`${path.basename(program)} failed: ${readFileSync(log, "utf8").slice(-2000)}`);
    return { cpuSeconds: account.seconds(group), wallSeconds };
  } finally {
    rmSync(log, { force: true });
    rmdirSync(group);
  }
}

export const sumOf = (costs: readonly Cost[]): Cost => ({
  cpuSeconds: costs.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
  wallSeconds: costs.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0),
});

export const medianOf = (costs: readonly Cost[]): Cost => ({
  cpuSeconds: median(costs.map(({ cpuSeconds }) => cpuSeconds)),
  wallSeconds: median(costs.map(({ wallSeconds }) => wallSeconds)),
});
