import type { startSchedule as StartSchedule } from "@reelkeep/local/schedule";
import { type Schedule, startSchedule } from "@reelkeep/local/schedule";

/** The real schedule, which a test can stop and start again. */
export interface PausableSchedule {
  /** No sweep and no dispatch begins any more, by time or by nudge; waits for those that run. */
  pause(): Promise<void>;
  resume(): void;
  /** As it was at the start. */
  restore(): Promise<void>;
  isPaused(): boolean;
  /** What the control plane starts. */
  readonly start: typeof StartSchedule;
}

export function pausableSchedule(startsPaused: boolean): PausableSchedule {
  let parts: Parameters<typeof StartSchedule> | undefined;
  let running: Schedule | undefined;
  const resume = () => {
    if (parts) running ??= startSchedule(...parts);
  };
  const pause = async () => {
    const stopped = running;
    running = undefined;
    await stopped?.stop();
  };
  return {
    pause,
    resume,
    restore: async () => (startsPaused ? await pause() : resume()),
    isPaused: () => running === undefined,
    start: (...given) => {
      parts = given;
      if (!startsPaused) resume();
      return {
        nudge: () => running?.nudge(),
        stop: async () => {
          parts = undefined;
          await pause();
        },
      };
    },
  };
}
