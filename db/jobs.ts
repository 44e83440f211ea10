/** Jobs: the rows and their queries. Their moves are in `job-moves.ts`, their launches in `job-launches.ts`. */
import type { RenditionProgress } from "@reelkeep/core/api/media";
import type { Stage } from "@reelkeep/core/job/attempt-machine";
import { unfinishedJobStates } from "@reelkeep/core/job/machine";
import { and, asc, eq, gt, inArray, lte } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now } from "./clock.ts";
import { jobs } from "./schema/jobs.ts";

export type Job = typeof jobs.$inferSelect;
export type NewJob = Pick<
  Job,
  | "actionKey"
  | "assetId"
  | "sourceRevision"
  | "profile"
  | "sourceKey"
  | "sourceEtag"
  | "sourceSizeBytes"
  | "sourceDurationSeconds"
>;

/** What a heartbeat carries. `fraction` is 0 to 1. */
export interface Progress {
  readonly stage: Stage;
  readonly fraction: number;
  readonly renditions: RenditionProgress[];
  readonly processByResolution: Record<string, string>;
}

/** Inserts a waiting job; null where its idempotency key (asset, revision, profile) or its actionKey is taken. */
export async function insertJob(tx: Transaction, job: NewJob): Promise<Job | null> {
  const rows = await tx
    .insert(jobs)
    .values({ ...job, admittedAt: now, updatedAt: now })
    .onConflictDoNothing()
    .returning();
  return rows[0] ?? null;
}

/** A strongly consistent read of exactly that key. */
export async function findJob(db: Executor, actionKey: string): Promise<Job | null> {
  const rows = await db.select().from(jobs).where(eq(jobs.actionKey, actionKey));
  return rows[0] ?? null;
}

/** The row, locked until the transaction ends. Lock order everywhere: asset, job, attempt. */
export async function lockJob(tx: Transaction, actionKey: string): Promise<Job | null> {
  const rows = await tx.select().from(jobs).where(eq(jobs.actionKey, actionKey)).for("update");
  return rows[0] ?? null;
}

/** J6: jobs whose lease has run out, longest first. */
export const findExpiredLeases = (db: Executor, limit: number): Promise<{ actionKey: string }[]> =>
  db
    .select({ actionKey: jobs.actionKey })
    .from(jobs)
    .where(and(eq(jobs.state, "job-received"), lte(jobs.leaseExpiryTime, now)))
    .orderBy(asc(jobs.leaseExpiryTime))
    .limit(limit);

/** Whether a newer revision of the asset is published or still unfinished; then this one may not publish. */
export async function isSuperseded(
  tx: Transaction,
  assetId: string,
  sourceRevision: number,
): Promise<boolean> {
  const rows = await tx
    .select({ actionKey: jobs.actionKey })
    .from(jobs)
    .where(
      and(
        eq(jobs.assetId, assetId),
        gt(jobs.sourceRevision, sourceRevision),
        inArray(jobs.state, [...unfinishedJobStates, "processing-completed"]),
      ),
    )
    .limit(1);
  return rows.length > 0;
}
