/** The other end of the channel in {@link ./child.ts}: what a child process of the local stack does about its life. */

/**
 * Tells the parent that this process serves, and closes what it serves with at SIGTERM or when the parent is gone.
 * `close` may be left waiting by a slow client, so the process ends after `graceSeconds` in any case.
 */
export function liveWithParent(close: () => Promise<unknown>, graceSeconds = 5): void {
  let closing = false;
  const end = () => {
    if (closing) return;
    closing = true;
    setTimeout(() => process.exit(1), graceSeconds * 1000).unref();
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  process.once("disconnect", end);
  process.send?.("ready");
}
