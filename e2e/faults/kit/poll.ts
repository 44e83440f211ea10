import { setTimeout as wait } from "node:timers/promises";

/**
 * Asks until there is an answer (anything but undefined, null or false).
 *
 * @param what is named in the error.
 * @throws Error when there is none in time.
 */
export async function poll<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinSeconds = 60,
): Promise<T> {
  const deadline = Date.now() + withinSeconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Not within ${withinSeconds} s: ${what}.`);
    await wait(50);
  }
}
