import type { Control } from "@reelkeep/local/control";
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
    if (parts) running ??= startImpatiently(...parts);
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

const impatienceMs = 500;

/** Looks for ended leases and due launches more often than the real schedule does, so that tests wait less. */
function startImpatiently(...[control, log]: Parameters<typeof StartSchedule>): Schedule {
  const schedule = startSchedule(control, log);
  let recovering = Promise.resolve();
  let isRecovering = false;
  const recover = async (sweep: Control["recover"]) => {
    isRecovering = true;
    await sweep().catch((err: unknown) => log.error({ err, sweep: "recover" }, "sweep failed"));
    isRecovering = false;
  };
  const timer = setInterval(() => {
    schedule.nudge();
    if (!isRecovering) recovering = recover(control.recover);
  }, impatienceMs);
  return {
    nudge: schedule.nudge,
    async stop() {
      clearInterval(timer);
      await Promise.all([recovering, schedule.stop()]);
    },
  };
}
