import { monotonicMs } from "./lease-protocol.ts";

/**
 * J12: calls `onStalled` once when the count `moves` has stood still for `stallSeconds`; never sooner, and later by
 * a second at most. Disposing it ends the watch.
 */
export function watchForStall(
  moves: () => number | bigint,
  stallSeconds: number,
  onStalled: () => void,
): Disposable {
  const stallMs = stallSeconds * 1000;
  let seen = moves();
  let movedAt = monotonicMs();
  const timer = setInterval(
    () => {
      const count = moves();
      if (count !== seen) {
        seen = count;
        movedAt = monotonicMs();
      } else if (monotonicMs() - movedAt >= stallMs) {
        clearInterval(timer);
        onStalled();
      }
    },
    Math.min(1000, stallMs / 10),
  );
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
