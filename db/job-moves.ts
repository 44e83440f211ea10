/** Jobs: every move of their state. One that lost answers null; the caller says what that means. */
import { type JobMove, jobMachine, unfinishedJobStates } from "@reelkeep/core/job/machine";
import { attemptsPerGeneration } from "@reelkeep/core/job/policy";
import type { Guard } from "@reelkeep/core/machine";
import { and, asc, eq, gt, inArray, isNull, lt, lte, notExists, type SQL, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Executor, Transaction } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import type { Job, Progress } from "./jobs.ts";
import { type Held, mayMove } from "./move.ts";
import { jobAttempts } from "./schema/job-attempts.ts";
import { jobs } from "./schema/jobs.ts";

type JobGuard<M extends JobMove> = (typeof jobMachine)["transitions"][M]["guard"];
type JobSet = PgUpdateSetSource<typeof jobs>;

/** The guard of a move, in SQL. A move with the guard `lease-held` can't be made without an attempt's id. */
function guardOf(guard: Guard, held: { attemptId?: string }): SQL | undefined {
  switch (guard) {
    case "none":
      return undefined;
    case "lease-held":
      return and(eq(jobs.beingProcessedBy, held.attemptId!), gt(jobs.leaseExpiryTime, now));
    case "lease-expired":
      return lte(jobs.leaseExpiryTime, now);
  }
}

/**
 * One guarded UPDATE. What the target state demands of the lease, the reason and the end time is set here, so no
 * caller can forget it (and the table's CHECKs would refuse the row).
 */
async function move<M extends JobMove>(
  db: Executor,
  name: M,
  target: { readonly actionKey: string } & Held<JobGuard<M>>,
  set: JobSet = {},
  ...conditions: (SQL | undefined)[]
): Promise<Job | null> {
  const { to, guard } = jobMachine.transitions[name];
  const rows = await db
    .update(jobs)
    .set({
      ...(to === "job-received"
        ? {}
        : {
            beingProcessedBy: null,
            leaseExpiryTime: null,
            stage: null,
            provisioningToken: null,
            machineId: null,
            launchedAt: null,
          }),
      ...(to === "file-processing-ready" ? { waitingReason: "queued" as const } : { waitingReason: null }),
      ...(to === "processing-completed" || to === "failed" || to === "cancelled" ? { endedAt: now } : {}),
      ...set,
      state: to,
      updatedAt: now,
    })
    .where(
      mayMove(
        jobMachine,
        name,
        jobs.state,
        eq(jobs.actionKey, target.actionKey),
        guardOf(guard, target as { attemptId?: string }),
        ...conditions,
      ),
    )
    .returning();
  return rows[0] ?? null;
}

/** J1: takes the job; the claim alone raises attemptCount. An attempt's id is used once: its attempt never runs again. */
export const claimJob = (
  tx: Transaction,
  claim: {
    actionKey: string;
    generation: number;
    attemptId: string;
    leaseSeconds: number;
    machineId: string | null;
  },
) =>
  move(
    tx,
    "claim",
    { actionKey: claim.actionKey },
    {
      beingProcessedBy: claim.attemptId,
      leaseExpiryTime: secondsFromNow(claim.leaseSeconds),
      lastHeartbeatAt: now,
      processingStartedAt: now,
      attemptCount: sql`${jobs.attemptCount} + 1`,
      launchCount: 0,
      retryAt: null,
      stage: "claim",
      progressFraction: 0,
      progressRenditions: [],
      processByResolution: {},
      errorCode: null,
      errorMessage: null,
      ...(claim.machineId === null ? {} : { machineId: claim.machineId }),
    },
    eq(jobs.generation, claim.generation),
    lt(jobs.attemptCount, jobs.attemptLimit),
    isNull(jobs.cancelRequestedAt),
    notExists(tx.select({ x: sql`1` }).from(jobAttempts).where(eq(jobAttempts.id, claim.attemptId))),
  );

/** J3: extends the lease and writes progress. Null: the lease is lost. */
export const heartbeatJob = (
  db: Executor,
  beat: { actionKey: string; attemptId: string; leaseSeconds: number; progress: Progress },
) =>
  move(db, "heartbeat", beat, {
    leaseExpiryTime: secondsFromNow(beat.leaseSeconds),
    lastHeartbeatAt: now,
    stage: beat.progress.stage,
    progressFraction: beat.progress.fraction,
    progressRenditions: beat.progress.renditions,
    processByResolution: beat.progress.processByResolution,
  });

/** P1: the job's part of publication. */
export const completeJob = (
  tx: Transaction,
  lease: { actionKey: string; attemptId: string },
  progress: Pick<Progress, "renditions" | "processByResolution">,
) =>
  move(
    tx,
    "publish",
    lease,
    {
      progressFraction: 1,
      progressRenditions: progress.renditions,
      processByResolution: progress.processByResolution,
      cancelRequestedAt: null,
    },
    isNull(jobs.cancelRequestedAt),
  );

/** What is recorded of a failure; both are safe to show. */
export interface JobError {
  readonly errorCode: string;
  readonly errorMessage: string;
}

/** J5: back to waiting after a failure worth another try. */
export const retryJobLater = (
  tx: Transaction,
  lease: { actionKey: string; attemptId: string },
  error: JobError & { backoffSeconds: number },
) =>
  move(
    tx,
    "retry-later",
    lease,
    { ...backoff(error) },
    lt(jobs.attemptCount, jobs.attemptLimit),
    isNull(jobs.cancelRequestedAt),
  );

/** J5: a permanent failure, or the last attempt's. */
export const failJob = (tx: Transaction, lease: { actionKey: string; attemptId: string }, error: JobError) =>
  move(
    tx,
    "fail",
    lease,
    { errorCode: error.errorCode, errorMessage: error.errorMessage },
    isNull(jobs.cancelRequestedAt),
  );

/** J4: a worker that must leave gives the job back; the limit rises by the attempt that it cost. */
export const handBackJob = (tx: Transaction, lease: { actionKey: string; attemptId: string }) =>
  move(
    tx,
    "hand-back",
    lease,
    { attemptLimit: sql`${jobs.attemptLimit} + 1` },
    isNull(jobs.cancelRequestedAt),
  );

/** J10: the worker that was asked to stop has stopped. */
export const obeyCancel = (tx: Transaction, lease: { actionKey: string; attemptId: string }) =>
  move(tx, "obey-cancel", lease);

/** J6: an expired lease's job goes back to waiting. */
export const recoverJob = (
  tx: Transaction,
  actionKey: string,
  error: JobError & { backoffSeconds: number },
) => move(tx, "recover", { actionKey }, backoff(error), lt(jobs.attemptCount, jobs.attemptLimit));

/** J6: an expired lease on the last attempt. */
export const recoverJobAsFailed = (tx: Transaction, actionKey: string, error: JobError) =>
  move(
    tx,
    "recover-as-failed",
    { actionKey },
    { errorCode: error.errorCode, errorMessage: error.errorMessage },
  );

/** J6: an expired lease on a job that was to be cancelled. */
export const recoverJobAsCancelled = (tx: Transaction, actionKey: string) =>
  move(tx, "recover-as-cancelled", { actionKey });

/** J6: no worker could be had by this launch, the last. Null where another has begun or a worker did come. */
export const giveUpLaunching = (
  tx: Transaction,
  launch: { actionKey: string; provisioningToken: string },
  error: JobError,
) =>
  move(
    tx,
    "give-up-launching",
    launch,
    { errorCode: error.errorCode, errorMessage: error.errorMessage },
    eq(jobs.provisioningToken, launch.provisioningToken),
  );

/** J10: someone cancels a job that waits. */
export const cancelWaitingJob = (tx: Transaction, actionKey: string, cancelledBy: string | null) =>
  move(tx, "cancel", { actionKey }, { cancelledBy });

/** J10: someone cancels a job that is being worked on; asking twice changes nothing more. */
export const requestCancel = (tx: Transaction, actionKey: string, cancelledBy: string) =>
  move(
    tx,
    "request-cancel",
    { actionKey },
    { cancelRequestedAt: now, cancelledBy },
    isNull(jobs.cancelRequestedAt),
  );

/** J11: an admin's retry of exactly this generation: a new one, with three more attempts. */
export const reopenJob = (tx: Transaction, actionKey: string, generation: number) =>
  move(
    tx,
    "reopen",
    { actionKey },
    {
      generation: sql`${jobs.generation} + 1`,
      attemptLimit: sql`${jobs.attemptCount} + ${attemptsPerGeneration}::int`,
      launchCount: 0,
      retryAt: null,
      cancelRequestedAt: null,
      cancelledBy: null,
      errorCode: null,
      errorMessage: null,
      endedAt: null,
    },
    eq(jobs.generation, generation),
  );

/** A job that had to make way, with the attempt that held it before. */
export interface Superseded {
  readonly job: Job;
  readonly attemptId: string | null;
}

/** Why a job had to make way; its row's `cancelled_by` says it. */
export type MadeWayFor = "superseded" | "asset-blocked" | "asset-deleted";

/**
 * Unfinished jobs of an asset make way for a newer revision (U5), or, without one, for the asset's block or deletion.
 * The asset's row must be locked, so that no job is admitted meanwhile.
 */
export async function supersedeJobs(
  tx: Transaction,
  target: { assetId: string; olderThanRevision?: number },
  cancelledBy: MadeWayFor,
): Promise<Superseded[]> {
  const unfinished = await tx
    .select({ actionKey: jobs.actionKey, attemptId: jobs.beingProcessedBy })
    .from(jobs)
    .where(
      and(
        eq(jobs.assetId, target.assetId),
        target.olderThanRevision === undefined
          ? undefined
          : lt(jobs.sourceRevision, target.olderThanRevision),
        inArray(jobs.state, [...unfinishedJobStates]),
      ),
    )
    .orderBy(asc(jobs.sourceRevision))
    .for("update");
  const superseded: Superseded[] = [];
  for (const { actionKey, attemptId } of unfinished) {
    const job = await move(tx, "supersede", { actionKey }, { cancelledBy });
    if (job) superseded.push({ job, attemptId });
  }
  return superseded;
}

const backoff = (error: JobError & { backoffSeconds: number }): JobSet => ({
  waitingReason: "retry-backoff",
  retryAt: secondsFromNow(error.backoffSeconds),
  errorCode: error.errorCode,
  errorMessage: error.errorMessage,
});
