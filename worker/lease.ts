import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { AppError } from "@reelkeep/core/errors";
import type { Progress } from "@reelkeep/db/jobs";
import {
  type FromLeaseThread,
  type LeaseThreadData,
  leaseBoard,
  monotonicMs,
  stopsAtMs,
  type ToLeaseThread,
} from "./lease-protocol.ts";

/** A hold on a job while this process works on it. */
export interface Lease {
  /** Aborts, with an AppError as its reason, once the worker may not go on. */
  readonly signal: AbortSignal;
  /**
   * Aborts with `lease-lost` shortly before the lease ends, by this machine's own monotonic clock, whether the lease
   * thread lives or not; `signal` then does too. Nothing is worth writing any more.
   */
  readonly over: AbortSignal;
  /** Hands the newest progress to the next heartbeat. */
  tell(progress: Progress): void;
  /** Says that the work has moved (J12). Cheap enough for every chunk. */
  moved(): void;
  /**
   * Asks the clock itself, where no timer may have had its turn.
   * @throws the reason not to go on.
   */
  requireTime(): void;
  /** Stops renewing, whether the database answers or not; the last step, after the end is written. */
  stop(): Promise<void>;
}

const reasons: Record<FromLeaseThread, () => AppError> = {
  cancel: () => new AppError("job-cancelled"),
  superseded: () => new AppError("lease-lost"),
  stalled: () => new AppError("stalled"),
};

/** A thread ends at once, unless the system still looks up the database's name for it. */
const stopMs = 2000;

/** Starts the lease thread. Nobody renews after a thread that dies by itself, so the attempt ends while it can tell. */
export function keepLease(data: Omit<LeaseThreadData, "board">): Lease {
  const told = new AbortController();
  const over = new AbortController();
  const signal = AbortSignal.any([told.signal, over.signal]);
  const board = leaseBoard();
  board.allowUntil(stopsAtMs(data.claimAskedAtMs, data.policy));
  // Bundled, the thread's script lies beside this one with the same ending.
  const script = new URL(
    import.meta.url.endsWith(".ts") ? "./lease-thread.ts" : "./lease-thread.js",
    import.meta.url,
  );
  const thread = new Worker(script, {
    workerData: { ...data, board: board.buffer } satisfies LeaseThreadData,
  });
  let stopping = false;
  thread.once("exit", () => {
    if (!stopping) told.abort(new AppError("worker-failed"));
  });
  thread.on("message", (message: FromLeaseThread) => told.abort(reasons[message]()));
  thread.on("error", (cause) => told.abort(new AppError("worker-failed", { cause })));

  const leftMs = () => board.stopsAtMs() - monotonicMs();
  const endInTime = () => {
    if (leftMs() <= 0)
      over.abort(new AppError("lease-lost", { message: "The lease couldn't be renewed in time." }));
  };
  let timer: NodeJS.Timeout;
  // Renewals only put the time off, so it is enough to look again when it was to be up.
  const look = () => {
    endInTime();
    if (!over.signal.aborted) timer = setTimeout(look, leftMs());
  };
  look();
  return {
    signal,
    over: over.signal,
    tell: (progress) => thread.postMessage(progress satisfies ToLeaseThread),
    moved: board.moved,
    requireTime() {
      endInTime();
      signal.throwIfAborted();
    },
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await Promise.race([thread.terminate(), sleep(stopMs, undefined, { ref: false })]);
    },
  };
}
