import { attemptPrefix, parseSourceKey } from "@reelkeep/core/object-keys";
import { findAttempt, insertAttempt, type JobAttempt } from "@reelkeep/db/job-attempts";
import { cancelWaitingJob, claimJob as claim } from "@reelkeep/db/job-moves";
import { findJob, type Job } from "@reelkeep/db/jobs";
import { insertProvisioningError } from "@reelkeep/db/provisioning-errors";
import type { ServiceContext } from "./context.ts";
import { announce } from "./fail-attempt.ts";

/** What a worker brings to a claim. It makes both ids itself: one per process start, one per hold on a job. */
export interface Claim {
  readonly actionKey: string;
  readonly generation: number;
  readonly attemptId: string;
  readonly workerId: string;
  readonly machineId: string | null;
}

/** A claim won, or why it wasn't. */
export type ClaimOutcome =
  | { readonly outcome: "claimed"; readonly job: Job; readonly attempt: JobAttempt }
  | {
      readonly outcome:
        | "held"
        | "finished"
        | "failed"
        | "cancelled"
        | "missing"
        | "stale-generation"
        | "out-of-attempts"
        | "attempt-ended";
    };

/**
 * J1: takes a job: one conditional UPDATE, and the attempt's row in the same transaction. A worker that lost the
 * answer asks again with the same attempt id and is told what it has, or that it has lost it since. A worker without
 * a job is recorded: somebody pays for a machine that nothing here asked for.
 */
export async function claimJob(
  { db, jobPolicy }: Pick<ServiceContext, "db" | "jobPolicy">,
  request: Claim,
): Promise<ClaimOutcome> {
  return db.transaction(async (tx): Promise<ClaimOutcome> => {
    const job = await claim(tx, { ...request, leaseSeconds: jobPolicy.leaseSeconds });
    if (job) {
      const { userId } = parseSourceKey(job.sourceKey)!;
      const attempt = await insertAttempt(tx, {
        id: request.attemptId,
        actionKey: job.actionKey,
        attemptNumber: job.attemptCount,
        generation: job.generation,
        workerId: request.workerId,
        machineId: request.machineId,
        outputPrefix: attemptPrefix({ userId, actionKey: job.actionKey, attemptNumber: job.attemptCount }),
      });
      return { outcome: "claimed", job, attempt };
    }
    const current = await findJob(tx, request.actionKey);
    if (current?.state === "file-processing-ready" && current.cancelRequestedAt) {
      // J10: no way that we know leaves a request behind on a job that waits; one that is there is obeyed.
      const cancelled = await cancelWaitingJob(tx, current.actionKey, current.cancelledBy);
      if (cancelled) await announce(tx, cancelled, 0);
      return { outcome: "cancelled" };
    }
    const attempt = await findAttempt(tx, request.attemptId);
    if (attempt && current?.beingProcessedBy === attempt.id)
      return { outcome: "claimed", job: current, attempt };
    const outcome = whyLost(current, request.generation, attempt);
    if (outcome === "missing") await insertProvisioningError(tx, { ...request, errorCode: "job-missing" });
    return { outcome };
  });
}

function whyLost(
  job: Job | null,
  generation: number,
  attempt: JobAttempt | null,
): Exclude<ClaimOutcome["outcome"], "claimed"> {
  if (!job) return "missing";
  if (job.generation !== generation) return "stale-generation";
  switch (job.state) {
    case "job-received":
      return "held";
    case "processing-completed":
      return "finished";
    case "failed":
      return "failed";
    case "cancelled":
      return "cancelled";
    case "file-processing-ready":
      return attempt ? "attempt-ended" : "out-of-attempts";
  }
}
