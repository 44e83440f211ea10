/** What the main thread and the lease thread say to each other. */
import type { JobPolicy } from "@reelkeep/core/job/policy";
import type { Progress } from "@reelkeep/db/jobs";
import type { HeartbeatAnswer } from "@reelkeep/services/heartbeat";

/** What the lease thread is started with. */
export interface LeaseThreadData {
  readonly databaseUrl: string;
  readonly actionKey: string;
  readonly attemptId: string;
  readonly policy: JobPolicy;
  /** By {@link monotonicMs}, before the claim was asked: the lease can't have begun earlier. */
  readonly claimAskedAtMs: number;
  readonly progress: Progress;
}

/** Main → thread: the newest progress. A thread whose work is over is terminated. */
export type ToLeaseThread = Progress;

/**
 * Thread → main: stop everything. `out-of-time`: the lease couldn't be renewed, and it is about to end by this
 * machine's own monotonic clock.
 */
export type FromLeaseThread = Exclude<HeartbeatAnswer, "continue"> | "out-of-time";

/** Milliseconds by a clock that all threads share and nobody sets; `performance.now()` begins anew in each thread. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
