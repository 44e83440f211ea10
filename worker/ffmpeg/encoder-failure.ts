/** Whose fault it is that FFmpeg didn't make a video. */
import { constants } from "node:os";
import { AppError } from "@reelkeep/core/errors";
import type { RunResult } from "./run.ts";

/** FFmpeg's exit code when more than two thirds of the packets couldn't be decoded: ffmpeg(1), `-max_error_rate`. */
const tooManyErrors = 69;

/** How a decoder ends that trips over a file. It would do so on every machine. */
const crashes = (["SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"] as const).map(
  (signal) => 128 + constants.signals[signal],
);

/** A picture that changes in the middle of the stream into one that no filter can take, e.g. of a negative shape. */
const impossiblePicture = /Error reinitializing filters|Error while processing the decoded data/;

/**
 * What an end other than success means: `disk-full`, `unreadable-file` where the source is to blame, which is for
 * good, else `encoder-failed`. FFmpeg's log is the cause, for our logs alone.
 */
export function encoderFailure({ exitCode, stderrTail }: RunResult): AppError {
  const cause = new Error(`FFmpeg ended with ${exitCode}: ${stderrTail}`);
  if (/No space left on device/.test(stderrTail)) return new AppError("disk-full", { cause });
  const isTheFile =
    exitCode === tooManyErrors || crashes.includes(exitCode) || impossiblePicture.test(stderrTail);
  return new AppError(isTheFile ? "unreadable-file" : "encoder-failed", { cause });
}
