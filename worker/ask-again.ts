import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";

/** Waits between tries, in seconds: about half a minute in all, less than a lease. */
const delaysSeconds = [0.2, 0.5, 1, 2, 4, 8, 8, 8];

/**
 * Asks the database again when no answer came: a lost answer is never taken for a failure. Only for questions that
 * carry their own idempotency key, as claim, publish and fail do.
 *
 * @throws AppError `database-unavailable` once all tries are used up; what isn't a failure of the connection at once.
 */
export async function askAgain<T>(question: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await question();
    } catch (cause) {
      if (!isConnectionFailure(cause)) throw cause;
      const delay = delaysSeconds[tries];
      if (delay === undefined) throw new AppError("database-unavailable", { cause });
      await sleep(delay * 1000);
    }
  }
}

/** Connection exceptions (class 08), operator intervention (57), resources (53), and what the socket says. */
function isConnectionFailure(error: unknown): boolean {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const code = "code" in e ? String(e.code) : "";
    if (/^(08|57|53)\w{3}$/.test(code) || /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(code))
      return true;
    if (/Connection terminated|timeout exceeded when trying to connect|connection timeout/i.test(e.message))
      return true;
  }
  return false;
}
