/** Long films are encoded in windows, so that an attempt that fails late loses ten minutes and not hours (M7). */

/** A part of the output's time line. */
export interface Window {
  /** Of its first picture; 0 for the first window, whenever its first picture comes. */
  readonly startSeconds: number;
  /** Where the next one begins; null for the last. */
  readonly endSeconds: number | null;
}

/** A whole number of segments and of storyboard sheets. */
export const windowSeconds = 600;
/** Up to here one run does it all. */
const longSeconds = 1200;
/** A last window shorter than this is joined to the one before it. */
const shortestWindowSeconds = 60;

/** Containers with an index of keyframes, in which seeking is exact. */
const isSeekable = (container: string): boolean =>
  container.startsWith("mov") || container.startsWith("matroska");

/** The whole as one. */
export const oneWindow: readonly Window[] = [{ startSeconds: 0, endSeconds: null }];

/**
 * Windows of ten minutes for a film whose first picture comes at `startSeconds`. Where the source's own stream is
 * taken over, `cutsSeconds` are the only times at which a window may begin.
 */
export function planWindows(
  container: string,
  film: { readonly startSeconds: number; readonly durationSeconds: number },
  cutsSeconds: readonly number[] | null = null,
): readonly Window[] {
  const { startSeconds, durationSeconds } = film;
  if (durationSeconds <= longSeconds || !isSeekable(container)) return oneWindow;
  const endSeconds = startSeconds + durationSeconds;
  const starts = cutsSeconds
    ? startsAtCuts(cutsSeconds)
    : Array.from(
        { length: Math.ceil(durationSeconds / windowSeconds) },
        (_, i) => i && startSeconds + i * windowSeconds,
      );
  if (endSeconds - starts.at(-1)! < shortestWindowSeconds) starts.pop();
  return starts.map((start, i) => ({ startSeconds: start, endSeconds: starts[i + 1] ?? null }));
}

/** The last cuts at which no window is longer than it may be. */
function startsAtCuts(cutsSeconds: readonly number[]): number[] {
  const starts = [0];
  cutsSeconds.forEach((cut, i) => {
    const next = cutsSeconds[i + 1] ?? cut;
    if (next - starts.at(-1)! > windowSeconds && cut > starts.at(-1)!) starts.push(cut);
  });
  return starts;
}
