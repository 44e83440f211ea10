/** Patience with storage. A disk that is full here stays full: that is another machine's to try. */
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";

const retryDelaysSeconds = [0.2, 1, 3, 10];

/**
 * Tries again after failures that are marked retryable, with growing pauses (half of each is random, so that
 * workers don't knock together). @throws the last failure, or the signal's reason.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (const pauseSeconds of retryDelaysSeconds) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof AppError) || !error.retryable || error.code === "disk-full") throw error;
      await delay(pauseSeconds * 1000 * (0.5 + Math.random() / 2), undefined, signal ? { signal } : {});
    }
  }
  return attempt();
}
