const windowMs = 8_000;
const settleMs = 1_000;

/** Measures how fast bytes go, over the last seconds, so that one slow part doesn't make the figure jump. */
export class SpeedMeter {
  #samples: { atMs: number; bytes: number }[] = [];

  /** Notes that `bytes` have been sent by `atMs`. Fewer than before means a new start: the past is forgotten. */
  note(bytes: number, atMs: number): void {
    const last = this.#samples.at(-1);
    if (last && bytes < last.bytes) this.#samples = [];
    this.#samples.push({ atMs, bytes });
    const from = atMs - windowMs;
    // One sample from before the window stays: the window then is full from its first moment on.
    while (this.#samples.length > 2 && this.#samples[1]!.atMs <= from) this.#samples.shift();
  }

  /** Bytes a second, or null while there is too little to go by. */
  bytesPerSecond(): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.atMs - first.atMs < settleMs) return null;
    return ((last.bytes - first.bytes) / (last.atMs - first.atMs)) * 1000;
  }

  /** Forgets everything: a pause would otherwise count as slowness. */
  reset(): void {
    this.#samples = [];
  }
}
