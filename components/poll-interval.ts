/** How long to wait before asking again: less often while nobody looks. Also runs where there is no document. */
export const pollInterval = (visibleMs: number, hiddenMs: number): number =>
  globalThis.document?.hidden ? hiddenMs : visibleMs;
