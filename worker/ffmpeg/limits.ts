/**
 * How much of the machine one run of FFmpeg or ffprobe may use. All limits are so far above what honest files need
 * that only a file made to be expensive, or a decoder that runs in circles, meets one.
 */
import { availableParallelism, constants, totalmem } from "node:os";
import type { EncodePlan } from "../stages/plan.ts";

export interface RunLimits {
  /** By the clock. Meeting it may be the machine's or storage's fault, so it ends the run as `stalled`. */
  readonly wallSeconds: number;
  /** Of all threads together: the file's own doing, so it ends the run as `too-demanding`, like the next two. */
  readonly cpuSeconds: number;
  /** Memory of its own: heap, stacks, pictures. */
  readonly memoryBytes: number;
  /** Of each file that it writes. */
  readonly fileBytes: number;
}

const gibibyte = 2 ** 30;
const processors = availableParallelism();

/** The rest is the worker's, so that the kernel never has to choose between it and FFmpeg. */
const memoryShareMax = 0.85;
const memoryBytesMax = Math.floor(
  memoryShareMax * Math.min(totalmem(), process.constrainedMemory() || totalmem()),
);
const memory = (bytes: number) => Math.min(Math.ceil(bytes), memoryBytesMax);

/** Whether the machine is too small for the memory that a file of this kind may use: another may do. */
export const isHeldByMachine = ({ memoryBytes }: RunLimits): boolean => memoryBytes >= memoryBytesMax;

/**
 * FFprobe reads headers and decodes up to 2,000 packets. Nothing is known of the picture yet: at 36 megapixels (the
 * limit), 16 reference pictures of 4:2:0 in ten bits take 1.7 GB, and each thread holds one more. It writes no file.
 */
export const probeLimits: RunLimits = {
  wallSeconds: 280,
  cpuSeconds: 240,
  memoryBytes: memory(6 * gibibyte + processors * 0.2 * gibibyte),
  fileBytes: 0,
};

/** FFprobe reads all packets: 100 GB from a slow disk take half an hour, and much less of a processor. */
export const scanLimits: RunLimits = { ...probeLimits, wallSeconds: 3600, cpuSeconds: 1800 };

/** Four seconds of the source are decoded for a poster. */
export const posterLimits: RunLimits = { ...probeLimits, fileBytes: 64 * 2 ** 20 };

/** FFmpeg reads all packets and writes the few that are text. */
export const subtitlesLimits: RunLimits = { ...scanLimits, fileBytes: 64 * 2 ** 20 };

/**
 * Measured: 0.008 processor seconds for each megapixel that is decoded or encoded, with x264 veryfast on x86-64. Ten
 * times that is room for slow presets, processors and filters.
 */
const cpuSecondsPerMegapixel = 0.1;
/** A header may state less than there is. */
const cpuSecondsLeast = 3600;
const cpuSecondsPerGigabyte = 4000;
/** Above any frame rate that cameras record for normal playing. */
const frameRates = { min: 30, max: 240 };
/** Storage that is slow makes FFmpeg wait. */
const waitingSeconds = 3600;
/** In ten bits 4:2:0; eight bits take half. */
const bytesPerPixel = 3;
/** Pictures in flight: references and threads of the decoder, look-ahead (60 at the most) and threads of the encoder. */
const picturesHeld = { decoding: 32 + 2 * processors, encoding: 80 + 2 * processors };

/** Of one run that encodes `seconds` of a source of this size; all of it by default. */
export function encodeLimits(
  plan: Pick<EncodePlan, "video" | "renditions" | "frameRate" | "expectedSeconds">,
  sourceBytes: number,
  seconds: number = plan.expectedSeconds,
): RunLimits {
  const sourcePixels = plan.video.coded.width * plan.video.coded.height;
  const madePixels = plan.renditions.reduce((sum, { width, height }) => sum + width * height, 0);
  const rate = Math.max(plan.frameRate, plan.video.frameRate ?? 0, frameRates.min);
  const megapixels = ((sourcePixels + madePixels) / 1e6) * Math.min(rate, frameRates.max) * seconds;
  const cpuSeconds = Math.ceil(
    cpuSecondsLeast + cpuSecondsPerMegapixel * megapixels + (cpuSecondsPerGigabyte * sourceBytes) / 1e9,
  );
  const pictureBytes =
    bytesPerPixel * (sourcePixels * picturesHeld.decoding + madePixels * picturesHeld.encoding);
  return {
    wallSeconds: cpuSeconds + waitingSeconds,
    cpuSeconds,
    memoryBytes: memory(2 * gibibyte + processors * 0.1 * gibibyte + pictureBytes),
    // One segment; at the highest rate that we make, a minute takes 0.2 GB.
    fileBytes: gibibyte,
  };
}

/** One run of the whole ladder opens some dozens. */
const openFilesMax = 512;
/** Threads count: those of seven encoders on the largest machines are about a thousand. */
const processesMax = 4096;
/** Storage, the lease and other programs of the machine come first. */
const niceness = 10;

/**
 * The words that put these limits on the command behind them: prlimit(1), nice(1).
 *
 * Memory is `--data`, not `--as`: the address space also counts what is only reserved, gigabytes on machines with
 * many processors. setrlimit(2), RLIMIT_DATA.
 */
export function limitWords(limits: RunLimits, options: { readonly countsProcesses: boolean }): string[] {
  return [
    "prlimit",
    // The same for warning and end: FFmpeg would take the warning (SIGXCPU) for a TERM and not say which it was.
    `--cpu=${limits.cpuSeconds}:${limits.cpuSeconds}`,
    `--data=${limits.memoryBytes}`,
    `--fsize=${limits.fileBytes}`,
    `--nofile=${openFilesMax}`,
    "--core=0",
    ...(options.countsProcesses ? [`--nproc=${processesMax}`] : []),
    ...niceWords,
  ];
}

/** All that there is where there is no prlimit, as on macOS. */
export const niceWords: readonly string[] = ["nice", "-n", String(niceness)];

/** What a shell gives as the exit code of a program that a signal ended. */
const endedBy = (signal: "SIGKILL" | "SIGXFSZ"): number => 128 + constants.signals[signal];

/**
 * Which limit a run met, by how it ended; null for none. The kernel ends whoever has used up its processor time by
 * KILL; so may somebody else, but hardly just when the time may have been used up.
 */
export function limitMet(
  program: "ffmpeg" | "ffprobe",
  limits: RunLimits,
  ended: { readonly exitCode: number; readonly stderrTail: string; readonly ranSeconds: number },
): "processor" | "file size" | "memory" | null {
  const { exitCode, stderrTail, ranSeconds } = ended;
  if (exitCode === endedBy("SIGXFSZ")) return "file size";
  if (exitCode === endedBy("SIGKILL") && ranSeconds * processors >= limits.cpuSeconds) return "processor";
  // A damaged header asks FFprobe for absurd amounts too; that file is then called unreadable, which is clearer.
  const wantsMemory = /Cannot allocate memory|malloc of size \d+ failed/.test(stderrTail);
  return program === "ffmpeg" && exitCode !== 0 && wantsMemory ? "memory" : null;
}
