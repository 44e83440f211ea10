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
  /** The most memory (resident) that any one process of that name took. */
  readonly peakMib: Readonly<Record<string, number>>;
}

/** A cost, and what was seen of the way there. */
export interface Run extends Cost {
  /** The end of everything, by the clock. */
  readonly endedAtMs: number;
  /** When a program was last seen running. */
  readonly lastSeenAtMs: Readonly<Record<string, number>>;
  readonly log: string;
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

const sampleMs = 100;

/**
 * Runs a command to its end and answers what it has cost, in a control group of its own: a cage leaves before the
 * kernel could add its children's time to it, so what `time` says would be far too little. `enough` is asked ten times
 * a second; at its yes everything is killed.
 *
 * @throws Error with the end of its log where it fails; where there are no control groups to make.
 */
export async function costOf(
  { program, args, env, cwd }: Command,
  folder: string,
  enough: () => Promise<boolean> = async () => false,
): Promise<Run> {
  const account = accounts.find(({ isHere }) => isHere());
  if (!account) throw new Error("This benchmark needs Linux's control groups.");
  const group = path.join(account.parent, `reelkeep-bench-${process.pid}`);
  mkdirSync(group);
  const log = path.join(folder, "command.log");
  const seen = { peakMib: {} as Record<string, number>, lastSeenAtMs: {} as Record<string, number> };
  try {
    const script = `echo $$ >"$GROUP/cgroup.procs" && exec "$@" >"$LOG" 2>&1`;
    const startedMs = Date.now();
    const shell = spawn("bash", ["-c", script, "bash", program, ...args], {
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, ...env, LOG: log, GROUP: group },
    });
    let killed = false;
    let isRunning = true;
    const watching = (async () => {
      while (isRunning) {
        look(group, seen);
        if (!killed && (await enough())) {
          killed = true;
          for (const pid of pidsIn(group)) process.kill(pid, "SIGKILL");
        }
        await new Promise((resolve) => setTimeout(resolve, sampleMs));
      }
    })();
    const [code] = await once(shell, "close");
    const endedAtMs = Date.now();
    isRunning = false;
    await watching;
    while (pidsIn(group).length > 0) await new Promise((resolve) => setTimeout(resolve, sampleMs));
    const text = readFileSync(log, "utf8");
    if (code !== 0 && !killed) throw new Error(`${path.basename(program)} failed: ${text.slice(-2000)}`);
    const wallSeconds = (endedAtMs - startedMs) / 1000;
    return { cpuSeconds: account.seconds(group), wallSeconds, endedAtMs, log: text, ...seen };
  } finally {
    rmSync(log, { force: true });
    rmdirSync(group);
  }
}

const pidsIn = (group: string): number[] =>
  readFileSync(`${group}/cgroup.procs`, "utf8").split("\n").filter(Boolean).map(Number);

/** Notes each process's name and the most memory that it has taken: proc(5), VmHWM. */
function look(group: string, seen: Record<"peakMib" | "lastSeenAtMs", Record<string, number>>): void {
  for (const pid of pidsIn(group))
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const name = /^Name:\t(.*)$/m.exec(status)?.[1] ?? "";
      const mib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
      seen.peakMib[name] = Math.max(seen.peakMib[name] ?? 0, mib);
      seen.lastSeenAtMs[name] = Date.now();
    } catch {
      // It has ended meanwhile.
    }
}

const namesOf = (costs: readonly Cost[]) => new Set(costs.flatMap(({ peakMib }) => Object.keys(peakMib)));
const peaksOf = (costs: readonly Cost[]): Record<string, number> =>
  Object.fromEntries(
    [...namesOf(costs)].map((name) => [name, Math.max(...costs.map(({ peakMib }) => peakMib[name] ?? 0))]),
  );

export const sumOf = (costs: readonly Cost[]): Cost => ({
  cpuSeconds: costs.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
  wallSeconds: costs.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0),
  peakMib: peaksOf(costs),
});

export const medianOf = (costs: readonly Cost[]): Cost => ({
  cpuSeconds: median(costs.map(({ cpuSeconds }) => cpuSeconds)),
  wallSeconds: median(costs.map(({ wallSeconds }) => wallSeconds)),
  peakMib: peaksOf(costs),
});
