import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { AppError } from "@reelkeep/core/errors";
import type { Progress } from "@reelkeep/db/jobs";
import type { FromLeaseThread, LeaseThreadData, ToLeaseThread } from "./lease-protocol.ts";

/** A hold on a job while this process works on it. */
export interface Lease {
  /** Aborts, with an AppError as its reason, once the worker may not go on. */
  readonly signal: AbortSignal;
  /** Hands the newest progress to the next heartbeat. */
  tell(progress: Progress): void;
  /** Stops renewing, whether the database answers or not; the last step, after the end is written. */
  stop(): Promise<void>;
}

const reasons: Record<FromLeaseThread, () => AppError> = {
  cancel: () => new AppError("job-cancelled"),
  superseded: () => new AppError("lease-lost"),
  "out-of-time": () => new AppError("lease-lost", { message: "The lease couldn't be renewed in time." }),
};

/** A thread ends at once, unless the system still looks up the database's name for it. */
const stopMs = 2000;

/** Starts the lease thread. A thread that dies by itself is as good as a lost lease: nobody renews any more. */
export function keepLease(data: LeaseThreadData): Lease {
  const controller = new AbortController();
  // Bundled, the thread's script lies beside this one with the same ending.
  const script = new URL(
    import.meta.url.endsWith(".ts") ? "./lease-thread.ts" : "./lease-thread.js",
    import.meta.url,
  );
  const thread = new Worker(script, { workerData: data });
  let stopping = false;
  thread.once("exit", () => {
    if (!stopping) controller.abort(new AppError("lease-lost"));
  });
  thread.on("message", (message: FromLeaseThread) => controller.abort(reasons[message]()));
  thread.on("error", (cause) => controller.abort(new AppError("lease-lost", { cause })));
  return {
    signal: controller.signal,
    tell: (progress) => thread.postMessage(progress satisfies ToLeaseThread),
    async stop() {
      stopping = true;
      await Promise.race([thread.terminate(), sleep(stopMs, undefined, { ref: false })]);
    },
  };
}
