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
  readonly progress: Progress;
}

/** Main → thread: the newest progress, or: stop renewing, the work is over. */
export type ToLeaseThread = { readonly progress: Progress } | "stop";

/**
 * Thread → main: stop everything. `out-of-time`: the lease couldn't be renewed, and it is about to end by this
 * machine's own monotonic clock.
 */
export type FromLeaseThread = Exclude<HeartbeatAnswer, "continue"> | "out-of-time";
