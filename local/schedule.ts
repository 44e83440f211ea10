import { Cron } from "croner";
import type { Logger } from "pino";
import type { Control } from "./control.ts";

export interface Schedule {
  /** There may be something to dispatch: soon, and never twice at once. After the stop, never. */
  nudge(): void;
  /** Begins nothing more and waits for what runs. */
  stop(): Promise<void>;
}

/**
 * Calls the sweeps as AWS does by its schedules, only more often: nothing is paid by the call here. A sweep that
 * fails is logged and comes again.
 */
export function startSchedule(control: Control, log: Logger): Schedule {
  const dispatch = oneAtATime(control.dispatch, "dispatch", log);
  const sweeps = [
    { pattern: "*/2 * * * * *", sweep: dispatch },
    { pattern: "*/5 * * * * *", sweep: oneAtATime(control.recover, "recover", log) },
    { pattern: "30 * * * * *", sweep: oneAtATime(control.cleanStorage, "clean-storage", log) },
    { pattern: "0 */10 * * * *", sweep: oneAtATime(control.expireUploads, "expire-uploads", log) },
  ];
  const crons = sweeps.map(({ pattern, sweep }) => new Cron(pattern, sweep.run));
  dispatch.run();
  return {
    nudge: dispatch.run,
    async stop() {
      for (const cron of crons) cron.stop();
      await Promise.all(sweeps.map(({ sweep }) => sweep.stop()));
    },
  };
}

/** A call while the work runs makes it run once more afterwards; one after the stop does nothing. */
function oneAtATime(work: () => Promise<void>, name: string, log: Logger) {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  const loop = async () => {
    do {
      again = false;
      await work().catch((err: unknown) => log.error({ err, sweep: name }, "sweep failed"));
    } while (again);
    running = undefined;
  };
  return {
    run: () => {
      if (stopped) return;
      again = true;
      running ??= loop();
    },
    stop: async () => {
      stopped = true;
      again = false;
      await running;
    },
  };
}
