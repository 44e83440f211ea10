import type { AppError } from "@reelkeep/core/errors";
import type { AttemptMove, Stage } from "@reelkeep/core/job/attempt-machine";
import { attemptCleanupDelaySeconds, retryDelaySeconds } from "@reelkeep/core/job/policy";
import type { Transaction } from "@reelkeep/db/client";
import { enterDeletion } from "@reelkeep/db/deletion-ledger";
import { countFailures, endAttempt, findAttempt, type JobAttempt } from "@reelkeep/db/job-attempts";
import { failJob, handBackJob, obeyCancel, retryJobLater, type Superseded } from "@reelkeep/db/job-moves";
import { type Job, lockJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import type { ServiceContext } from "./context.ts";

/** A worker's hold on a job. */
interface Lease {
  readonly actionKey: string;
  readonly attemptId: string;
}

/** What became of the job. `lease-lost`: somebody else decides; nothing was written. */
export type FailOutcome = "retry-later" | "failed" | "cancelled" | "lease-lost";

/**
 * J5: a worker records why it failed before it goes. A failure worth another try sends the job back to waiting while
 * attempts are left; a permanent one, or the last attempt's, ends it. J10: where the job was to be cancelled, it is.
 */
export async function failAttempt(
  { db, jobPolicy }: Pick<ServiceContext, "db" | "jobPolicy">,
  lease: Lease,
  failure: { error: AppError; stage: Stage; completedRenditions: string[] },
): Promise<FailOutcome> {
  const error = { errorCode: failure.error.code, errorMessage: failure.error.message };
  return db.transaction(async (tx) => {
    const held = await lockJob(tx, lease.actionKey);
    const attempt = await findAttempt(tx, lease.attemptId);
    if (!held || !attempt) return "lease-lost";
    if (held.cancelRequestedAt) return (await obey(tx, lease, attempt)) ? "cancelled" : "lease-lost";
    const backoffSeconds = retryDelaySeconds((await countFailures(tx, attempt)) + 1, jobPolicy);
    const waiting = failure.error.retryable
      ? await retryJobLater(tx, lease, { ...error, backoffSeconds })
      : null;
    const job = waiting ?? (await failJob(tx, lease, error));
    if (!job) return "lease-lost";
    await closeAttempt(tx, "fail", attempt, {
      ...error,
      stage: failure.stage,
      completedRenditions: failure.completedRenditions,
    });
    await announce(tx, job, waiting ? backoffSeconds : 0);
    return waiting ? "retry-later" : "failed";
  });
}

/**
 * J4: a worker that must leave (spot notice, deployment) gives the job back at once; it costs no attempt. J10: where
 * the job was to be cancelled, it is. False where the lease is lost.
 */
export async function handBackAttempt({ db }: Pick<ServiceContext, "db">, lease: Lease): Promise<boolean> {
  return db.transaction(async (tx) => {
    const held = await lockJob(tx, lease.actionKey);
    const attempt = await findAttempt(tx, lease.attemptId);
    if (!held || !attempt) return false;
    if (held.cancelRequestedAt) return obey(tx, lease, attempt);
    const job = await handBackJob(tx, lease);
    if (!job) return false;
    await closeAttempt(tx, "hand-back", attempt);
    await announce(tx, job, 0);
    return true;
  });
}

/** J10: a worker that was told to cancel says that it has stopped. */
export async function endCancelledAttempt(
  { db }: Pick<ServiceContext, "db">,
  lease: Lease,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const attempt = await findAttempt(tx, lease.attemptId);
    return attempt !== null && obey(tx, lease, attempt);
  });
}

/** False where the lease is lost. */
async function obey(tx: Transaction, lease: Lease, attempt: JobAttempt): Promise<boolean> {
  const job = await obeyCancel(tx, lease);
  if (!job) return false;
  await closeAttempt(tx, "cancel", attempt);
  await announce(tx, job, 0);
  return true;
}

/** Ends an attempt and enters what it wrote for deletion: nobody reads it, and workers never delete. */
export async function closeAttempt(
  tx: Transaction,
  move: Exclude<AttemptMove, "succeed">,
  attempt: JobAttempt,
  facts: Partial<Pick<JobAttempt, "errorCode" | "errorMessage" | "stage" | "completedRenditions">> = {},
): Promise<void> {
  if (!(await endAttempt(tx, move, attempt.id, facts))) return;
  await enterDeletion(tx, {
    kind: "prefix",
    target: attempt.outputPrefix,
    reason: `attempt-${move}`,
    delaySeconds: attemptCleanupDelaySeconds,
  });
}

/** What jobs that had to make way leave: their attempts end, and their end is announced. */
export async function settleSuperseded(tx: Transaction, superseded: readonly Superseded[]): Promise<void> {
  for (const { job, attemptId } of superseded) {
    const attempt = attemptId && (await findAttempt(tx, attemptId));
    if (attempt) await closeAttempt(tx, "supersede", attempt);
    await announce(tx, job, 0);
  }
}

/** The intent that follows from where the job is now: a launch while it waits, an event once it has ended. */
export async function announce(tx: Transaction, job: Job, delaySeconds: number): Promise<void> {
  const { actionKey, generation, state } = job;
  await writeOutbox(
    tx,
    state === "file-processing-ready"
      ? { kind: "launch-worker", actionKey, generation, delaySeconds }
      : { kind: "job-ended", actionKey, generation, payload: { state, code: job.errorCode } },
  );
}
