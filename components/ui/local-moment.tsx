"use client";
import { formatDay, formatMoment } from "@reelkeep/core/words/format";
import { useSyncExternalStore } from "react";

const never = () => () => {};

/** Whether this runs in the browser, after the server's markup was taken over. */
const useInBrowser = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

/** A moment in the reader's own time zone, which the server doesn't know: empty until the browser fills it. */
export function LocalMoment({ iso, withTime = true }: { iso: string; withTime?: boolean }) {
  const inBrowser = useInBrowser();
  const format = withTime ? formatMoment : formatDay;
  return <time dateTime={iso}>{inBrowser ? format(iso, { now: new Date() }) : " "}</time>;
}
