/** Long films are encoded in windows, so that an attempt that fails late loses ten minutes and not hours (M7). */

import type { EncodingProfile } from "@reelkeep/core/media/profile";

/** A part of the output's time line. */
export interface Window {
  /** Of its first picture; 0 for the first window, whenever its first picture comes. */
  readonly startSeconds: number;
  /** Where the next one begins; null for the last. */
  readonly endSeconds: number | null;
}

/** A last window shorter than this share of the others is joined to the one before it. */
const shortestShare = 0.1;

/** Containers with an index of keyframes, in which seeking is exact. */
const isSeekable = (container: string): boolean =>
  container.startsWith("mov") || container.startsWith("matroska");

/** The whole as one. */
export const oneWindow: readonly Window[] = [{ startSeconds: 0, endSeconds: null }];

/**
 * The windows for a film whose first picture comes at `startSeconds`. Where the source's own stream is
 * taken over, `cutsSeconds` are the only times at which a window may begin.
 */
export function planWindows(
  container: string,
  { aboveSeconds, seconds }: EncodingProfile["windows"],
  film: { readonly startSeconds: number; readonly durationSeconds: number },
  cutsSeconds: readonly number[] | null = null,
): readonly Window[] {
  const { startSeconds, durationSeconds } = film;
  if (durationSeconds <= aboveSeconds || !isSeekable(container)) return oneWindow;
  const endSeconds = startSeconds + durationSeconds;
  const starts = cutsSeconds
    ? startsAtCuts([...cutsSeconds, endSeconds], seconds)
    : Array.from({ length: Math.ceil(durationSeconds / seconds) }, (_, i) => i && startSeconds + i * seconds);
  if (endSeconds - starts.at(-1)! < seconds * shortestShare) starts.pop();
  return starts.map((start, i) => ({ startSeconds: start, endSeconds: starts[i + 1] ?? null }));
}

/** The last cuts (of a list that ends with the film) at which no window is longer than it may be. */
function startsAtCuts(cutsSeconds: readonly number[], seconds: number): number[] {
  const starts = [0];
  cutsSeconds.slice(0, -1).forEach((cut, i) => {
    const next = cutsSeconds[i + 1]!;
    if (next - starts.at(-1)! > seconds && cut > starts.at(-1)!) starts.push(cut);
  });
  return starts;
}
