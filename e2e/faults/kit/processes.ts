/** Workers and their encoders as processes, found by what the kernel tells. Linux alone. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { poll } from "./poll.ts";

/** A worker's process. */
export interface WorkerProcess {
  readonly pid: number;
  readonly machineId: string;
  /** Processes of FFmpeg that work for it, also after its own end. */
  encoderPids(): number[];
  /** Waits until FFmpeg encodes for it. */
  untilEncoding(): Promise<number>;
  /** SIGSTOP of FFmpeg: nothing moves, and the worker lives. */
  freezeEncoders(): void;
  thawEncoders(): void;
  /** SIGKILL, and waits for its end. */
  kill(): Promise<void>;
  /** SIGTERM, as a fleet that ends a machine sends it; doesn't wait. */
  terminate(): void;
  /** SIGSTOP: it does nothing any more, lease thread included, and its connections stay open. */
  freeze(): void;
  thaw(): void;
  untilGone(withinSeconds?: number): Promise<void>;
  isAlive(): boolean;
}

/** Waits for a worker of this job; not one of `after`, which had it before. */
export const findWorker = (actionKey: string, after?: WorkerProcess): Promise<WorkerProcess> =>
  poll(`a worker process of job ${actionKey}`, () =>
    workersOf(actionKey).find(({ machineId }) => machineId !== after?.machineId),
  );

/** The job's worker processes of now. */
export const workersOf = (actionKey: string): WorkerProcess[] =>
  workersWhere((env) => env.get("ACTION_KEY") === actionKey);

/** All worker processes of now whose scratch lies below this folder: those of one stack. */
export const workersBelow = (dataDir: string): WorkerProcess[] =>
  workersWhere((env) => env.get("SCRATCH_DIR")?.startsWith(dataDir) ?? false);

function workersWhere(isMeant: (env: Map<string, string>) => boolean): WorkerProcess[] {
  const found = allPids().flatMap((pid) => {
    const env = isRunning(pid) ? environmentOf(pid) : null;
    const isWorker = env && isMeant(env) && /worker\.js/.test(commandLineOf(pid).join(" "));
    return isWorker ? [workerProcess(pid, env.get("MACHINE_ID")!)] : [];
  });
  // What a worker is just starting looks like the worker until it becomes FFmpeg.
  return found.filter(({ pid }) => !found.some((other) => other.pid === parentOf(pid)));
}

function workerProcess(pid: number, machineId: string): WorkerProcess {
  const encoderPids = () =>
    allPids().filter((candidate) => {
      const [program = "", ...words] = commandLineOf(candidate);
      return path.basename(program) === "ffmpeg" && words.some((word) => word.includes(machineId));
    });
  return {
    pid,
    machineId,
    encoderPids,
    untilEncoding: () => poll(`FFmpeg of ${machineId}`, () => encoderPids()[0]),
    freezeEncoders: () => signalAll(encoderPids(), "SIGSTOP"),
    thawEncoders: () => signalAll(encoderPids(), "SIGCONT"),
    kill: () => killAndWait(pid),
    terminate: () => signal(pid, "SIGTERM"),
    freeze: () => signal(pid, "SIGSTOP"),
    thaw: () => signal(pid, "SIGCONT"),
    untilGone: (withinSeconds) => waitUntilGone(pid, withinSeconds),
    isAlive: () => isRunning(pid),
  };
}

const signalAll = (pids: readonly number[], name: NodeJS.Signals): void => {
  for (const pid of pids) signal(pid, name);
};

/** SIGKILL, and waits for the end. */
export async function killAndWait(pid: number): Promise<void> {
  signal(pid, "SIGKILL");
  await waitUntilGone(pid);
}

/** Nothing happens where it has ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A zombie counts as gone. */
export async function waitUntilGone(pid: number, withinSeconds = 30): Promise<void> {
  const deadline = Date.now() + withinSeconds * 1000;
  while (isRunning(pid)) {
    if (Date.now() > deadline) throw new Error(`Process ${pid} still runs after ${withinSeconds} s.`);
    await wait(20);
  }
}

const allPids = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function isRunning(pid: number): boolean {
  const state = /^\d+ \(.*\) (\S)/s.exec(read(pid, "stat"))?.[1];
  return state !== undefined && state !== "Z" && state !== "X";
}

/** proc_pid_stat(5); NaN where it has ended meanwhile. */
const parentOf = (pid: number): number => Number(/^\d+ \(.*\) \S (\d+)/s.exec(read(pid, "stat"))?.[1]);

const commandLineOf = (pid: number): string[] => read(pid, "cmdline").split("\0");

const environmentOf = (pid: number): Map<string, string> =>
  new Map(
    read(pid, "environ")
      .split("\0")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

/** Empty where it has ended meanwhile. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
