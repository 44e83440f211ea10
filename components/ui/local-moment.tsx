"use client";
import { formatClock, formatDay, formatMoment } from "@reelkeep/core/words/format";
import { useSyncExternalStore } from "react";

const never = () => () => {};

/** Whether this runs in the browser, after the server's markup was taken over. */
const useInBrowser = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

const formats = { moment: formatMoment, day: formatDay, clock: formatClock };

/**
 * A moment in the reader's own time zone, which the server doesn't know: empty until the browser fills it. `as` a
 * `day` it has no time, as a `clock` nothing but its time, to the second.
 */
export function LocalMoment({ iso, as = "moment" }: { iso: string; as?: keyof typeof formats }) {
  const inBrowser = useInBrowser();
  return <time dateTime={iso}>{inBrowser ? formats[as](iso, { now: new Date() }) : "\u00a0"}</time>;
}
