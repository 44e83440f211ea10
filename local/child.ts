/** Child processes of the local stack: started, watched, ended. They end by themselves when their channel closes. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { openLogFile } from "./log-file.ts";

export interface ChildOptions {
  /** For messages: "storage". */
  readonly name: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Instead of those that make stack traces name sources. */
  readonly nodeFlags?: readonly string[];
}

/**
 * Starts a script of ours on this Node. It gets a process group of its own, because Ctrl-C in a terminal reaches a
 * whole group and would end the children in no order; and a channel, whose end tells it that its parent is gone.
 */
export function startChild({ script, env, logFile, nodeFlags }: Omit<ChildOptions, "name">): ChildProcess {
  const log = openLogFile(logFile);
  try {
    return spawn(process.execPath, [...(nodeFlags ?? ["--enable-source-maps"]), script], {
      detached: true,
      stdio: ["ignore", log, log, "ipc"],
      env: { ...process.env, ...env },
    });
  } finally {
    closeSync(log);
  }
}

/** Settles when the process is gone, whether it ended or never began. */
export function whenGone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
}

/** Asks the child to end, and after the grace ends its whole group. */
export async function endChild(child: ChildProcess, graceSeconds: number): Promise<void> {
  const gone = whenGone(child);
  child.kill("SIGTERM");
  const cancel = new AbortController();
  const grace = wait(graceSeconds * 1000, "late", { signal: cancel.signal }).catch(() => "gone");
  if ((await Promise.race([gone, grace])) === "late") killGroup(child);
  cancel.abort();
  await gone;
}

/** Ends a process and its group at once. Also for a group whose leader has died already. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}

/** A child that is kept running. */
export interface Service {
  stop(): Promise<void>;
}

const readySeconds = 60;
const restartsMax = 5;
const restartWindowSeconds = 60;
const graceSeconds = 10;

/**
 * Starts a child and waits for its message "ready". A child that ends by itself later is started again; when that
 * happens more than five times a minute, `onGivenUp` gets a sentence.
 *
 * @throws Error with the end of its log when the first start fails.
 */
export async function startService(
  options: ChildOptions,
  onGivenUp: (message: string) => void,
): Promise<Service> {
  let child = await startReady(options);
  let stopping = false;
  let restarts: number[] = [];

  const keepRunning = async () => {
    for (;;) {
      await whenGone(child);
      if (stopping) return;
      const now = Date.now();
      restarts = [...restarts.filter((at) => now - at < restartWindowSeconds * 1000), now];
      if (restarts.length > restartsMax) throw new Error(`The ${options.name} ends again and again.`);
      child = await startReady(options);
      if (stopping) await endChild(child, graceSeconds);
    }
  };
  const watched = keepRunning().catch((error: Error) => onGivenUp(error.message));

  return {
    async stop() {
      stopping = true;
      await endChild(child, graceSeconds);
      await watched;
    },
  };
}

async function startReady(options: ChildOptions): Promise<ChildProcess> {
  const child = startChild(options);
  const ready = new Promise<"ready">((resolve) => {
    child.on("message", (message) => {
      if (message === "ready") resolve("ready");
    });
  });
  const cancel = new AbortController();
  const late = wait(readySeconds * 1000, "late" as const, { signal: cancel.signal }).catch(
    () => "late" as const,
  );
  const outcome = await Promise.race([ready, late, whenGone(child).then(() => "gone" as const)]);
  cancel.abort();
  if (outcome === "ready") return child;
  await endChild(child, graceSeconds);
  const lastLines = readFileSync(options.logFile, "utf8").trimEnd().split("\n").slice(-15).join("\n");
  throw new Error(`The ${options.name} doesn't start. The end of ${options.logFile}:\n${lastLines}`);
}
