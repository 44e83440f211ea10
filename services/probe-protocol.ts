/** What the probe's process and its parent say to each other. */
import type { ContainerFacts } from "@reelkeep/core/upload/container-facts";
import type { VideoContainer } from "@reelkeep/core/upload/signature";

/** What the process is started with, as JSON in its first argument. */
export interface ProbeTask {
  readonly sizeBytes: number;
  readonly container: VideoContainer;
  /** The process ends by itself after this, in case its parent is gone. */
  readonly lifeMs: number;
}

/** Process → parent: the bytes `start` to before `end`, please; or what it found. */
export type FromProbe =
  | { readonly id: number; readonly start: number; readonly end: number }
  | { readonly facts: ContainerFacts };

/** Parent → process. A range that can't be had ends the process instead. */
export interface ToProbe {
  readonly id: number;
  readonly bytes: Uint8Array;
}
