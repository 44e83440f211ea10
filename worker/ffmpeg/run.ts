/** Runs one FFmpeg program to its end, or ends it. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { AppError } from "@reelkeep/core/errors";
import { monotonicMs } from "../lease-protocol.ts";
import { bareEnvironment, cagedCommand, filesOfProgram, type RunFiles } from "./cage.ts";
import { isHeldByMachine, limitMet, limitWords, niceWords, type RunLimits } from "./limits.ts";
import type { MediaTools } from "./tools.ts";

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
  /** One of the folders to write. */
  readonly cwd?: string;
  /** All that the program may read and write; nothing by default. Enforced where the cage can (`confinesFiles`). */
  readonly files?: RunFiles;
  /** Without them only the file's own end, or the signal, ends it. */
  readonly limits?: RunLimits;
}

export interface RunHandle {
  /** Stops the program's clock (SIGSTOP), e.g. while storage is behind. Twice is as good as once. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** How a program ended by itself. */
export interface RunResult {
  /** 128 and the signal's number where one ended it. */
  readonly exitCode: number;
  /** The last lines of its log, for our logs alone. */
  readonly stderrTail: string;
}

const killGraceSeconds = 5;
const stderrTailChars = 8_192;
/** Node's timers go no further: 24 days. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * Runs `program` in its own process group, without stdin, without our environment, in the cage that the system has,
 * and within its limits. Any exit code is returned.
 * @throws AppError `worker-failed` when it can't be started, `stalled` after `limits.wallSeconds`, `too-demanding`
 * when it met another limit (worth another try only where the machine's memory was the limit); the signal's reason when aborted; and whatever `onStdout` throws.
 */
export async function run(
  tools: MediaTools,
  program: "ffmpeg" | "ffprobe",
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  options.signal?.throwIfAborted();
  const [command, ...words] = commandOf(tools, program, args, options);
  const startedMs = monotonicMs();
  const child = spawn(command, words, {
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
    const result = { exitCode, stderrTail: await stderrTail };
    requireOwnEnd(program, options.limits, { ...result, ranSeconds: (monotonicMs() - startedMs) / 1000 });
    return result;
  } finally {
    termination.dispose();
  }
}

function commandOf(
  tools: MediaTools,
  program: "ffmpeg" | "ffprobe",
  args: readonly string[],
  { files = {}, cwd, limits }: RunOptions,
) {
  const limited = limits && tools.hasLimits ? limitWords(limits, tools.cage) : niceWords;
  const read = [...filesOfProgram(tools[program]), ...(files.read ?? [])];
  return cagedCommand(tools.cage, { ...files, read }, cwd, [...limited, tools[program], ...args]);
}

/** What the words before FFmpeg say when they fail; FFmpeg's own lines begin otherwise. */
const cageFailure = /^(?:bwrap|unshare|setpriv|prlimit|nice): /;

/** @throws AppError `too-demanding` when a limit was met, `worker-failed` when the program wasn't reached. */
function requireOwnEnd(
  program: "ffmpeg" | "ffprobe",
  limits: RunLimits | undefined,
  ended: RunResult & { readonly ranSeconds: number },
): void {
  const cause = new Error(`${program} ended with ${ended.exitCode}: ${ended.stderrTail}`);
  const limit = limits ? limitMet(program, limits, ended) : null;
  if (limits && limit)
    throw new AppError("too-demanding", {
      cause,
      details: { limit },
      retryable: limit === "memory" && isHeldByMachine(limits),
    });
  if (ended.exitCode !== 0 && cageFailure.test(ended.stderrTail))
    throw new AppError("worker-failed", { cause });
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

const exitOf = (child: Child): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(new AppError("worker-failed", { cause })));
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
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
function terminateOnDemand(child: Child, { signal, limits }: RunOptions) {
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
    limits &&
    setTimeout(() => end(new AppError("stalled")), Math.min(limits.wallSeconds * 1000, timeoutMsMax));
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
