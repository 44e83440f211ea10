/** Runs one FFmpeg program to its end, or ends it. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { AppError } from "@reelkeep/core/errors";
import { bareEnvironment, type MediaTools } from "./tools.ts";

/** What a stage hands on to each program that it runs. */
export interface RunWatch {
  /** Ends the program: TERM to its process group, KILL after the grace. `run` then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each output and of the end (J12); not for a program that also writes while it stands still. */
  readonly onMove?: (() => void) | undefined;
}

export interface RunOptions extends RunWatch {
  readonly onStdout?: (chunk: string) => void;
  /** Told the process as soon as it runs, so that it can be paused. */
  readonly onStart?: (handle: RunHandle) => void;
  readonly cwd?: string;
  readonly timeoutSeconds?: number;
}

export interface RunHandle {
  /** Stops the program's clock (SIGSTOP), e.g. while storage is behind. Twice is as good as once. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** How a program ended by itself. */
export interface RunResult {
  readonly exitCode: number;
  /** The last lines of its log, for our logs alone. */
  readonly stderrTail: string;
}

const killGraceSeconds = 5;
const stderrTailChars = 8_192;

/**
 * Runs `program` in its own process group, without stdin, without our environment, and without the network where
 * the system allows that. Any exit code is returned.
 * @throws AppError `worker-failed` when it can't be started, `stalled` after `timeoutSeconds`; the signal's reason
 * when aborted; and whatever `onStdout` throws.
 */
export async function run(
  tools: MediaTools,
  program: "ffmpeg" | "ffprobe",
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  options.signal?.throwIfAborted();
  const [command, ...words] = [...tools.cage, tools[program], ...args];
  const child = spawn(command!, words, {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: bareEnvironment(tools.path),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const termination = terminateOnDemand(child, options);
  options.onStart?.({
    // Once it is to end, it mustn't stand still again.
    pause: () => termination.isUnderWay() || signalGroup(child, "SIGSTOP"),
    resume: () => signalGroup(child, "SIGCONT"),
  });
  try {
    const exit = exitOf(child);
    const stderrTail = collectTail(child.stderr);
    const drained = feed(child.stdout, (chunk) => {
      options.onMove?.();
      options.onStdout?.(chunk);
    }).catch(termination.end);
    const exitCode = await exit;
    options.onMove?.();
    await drained;
    termination.throwIfEnded();
    return { exitCode, stderrTail: await stderrTail };
  } finally {
    termination.dispose();
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

const exitOf = (child: Child): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(new AppError("worker-failed", { cause })));
    child.once("close", (code) => resolve(code ?? 255));
  });

async function collectTail(stream: Readable): Promise<string> {
  let tail = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream) tail = (tail + chunk).slice(-stderrTailChars);
  return tail;
}

async function feed(stream: Readable, onChunk: (chunk: string) => void): Promise<void> {
  stream.setEncoding("utf8");
  for await (const chunk of stream) onChunk(chunk);
}

/** Ends the child once, for the first reason given, and remembers the reason. */
function terminateOnDemand(child: Child, { signal, timeoutSeconds }: RunOptions) {
  let ended: { readonly reason: unknown } | null = null;
  let killTimer: NodeJS.Timeout | undefined;
  const end = (reason: unknown) => {
    if (ended) return;
    ended = { reason };
    signalGroup(child, "SIGTERM");
    // A stopped process takes the TERM only once it goes on.
    signalGroup(child, "SIGCONT");
    killTimer = setTimeout(() => signalGroup(child, "SIGKILL"), killGraceSeconds * 1000);
  };
  const onAbort = () => end(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const timeout =
    timeoutSeconds === undefined
      ? undefined
      : setTimeout(() => end(new AppError("stalled")), timeoutSeconds * 1000);
  return {
    end,
    isUnderWay: () => ended !== null,
    throwIfEnded() {
      if (ended) throw ended.reason;
    },
    dispose() {
      clearTimeout(killTimer);
      clearTimeout(timeout);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

/** The whole group, because the cage may stand between us and FFmpeg. Gone already is fine. */
function signalGroup(child: Child, name: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
