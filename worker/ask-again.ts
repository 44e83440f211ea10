import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";

/** Waits between tries, in seconds; the last one is repeated. */
const delaysSeconds = [0.2, 0.5, 1, 2, 4, 8];
const askingSeconds = 30;

/**
 * Asks the database again when no answer came: a lost answer is never taken for a failure. Only for questions that
 * carry their own idempotency key, as claim, publish and fail do. The last try begins within half a minute of the
 * first; it may take what `openDatabase` allows a connection and a query.
 *
 * @param signal once it aborts, nothing is asked again: who has lost the lease has nothing to decide.
 * @throws AppError `database-unavailable` once the time is used up; the signal's reason; what isn't a failure of the
 * connection at once.
 */
export async function askAgain<T>(question: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const endsAt = performance.now() + askingSeconds * 1000;
  for (let tries = 0; ; tries++) {
    try {
      return await question();
    } catch (cause) {
      if (!isConnectionFailure(cause)) throw cause;
      const delayMs = (delaysSeconds[tries] ?? delaysSeconds.at(-1)!) * 1000;
      if (performance.now() + delayMs > endsAt) throw new AppError("database-unavailable", { cause });
      await sleep(delayMs, undefined, signal ? { signal } : {}).catch(() => {});
      signal?.throwIfAborted();
    }
  }
}

/** Connection exceptions (class 08), operator intervention (57), resources (53), and what the socket says. */
function isConnectionFailure(error: unknown): boolean {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const code = "code" in e ? String(e.code) : "";
    if (/^(08|57|53)\w{3}$/.test(code) || /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(code))
      return true;
    if (
      /Connection terminated|timeout exceeded when trying to connect|connection timeout|query read timeout|not queryable/i.test(
        e.message,
      )
    )
      return true;
  }
  return false;
}
