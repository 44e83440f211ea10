/** What tests of faults read to judge what is left after one. */
import { and, asc, eq, inArray, isNull, lte, notInArray } from "drizzle-orm";
import type { Executor } from "../client.ts";
import { now } from "../clock.ts";
import type { LedgerEntry } from "../deletion-ledger.ts";
import type { Job } from "../jobs.ts";
import type { MediaVersion } from "../media-versions.ts";
import type { OutboxMessage } from "../outbox.ts";
import { assets } from "../schema/assets.ts";
import { deletionLedger } from "../schema/deletion-ledger.ts";
import { jobAttempts } from "../schema/job-attempts.ts";
import { jobs } from "../schema/jobs.ts";
import { mediaVersions } from "../schema/media-versions.ts";
import { outboxMessages } from "../schema/outbox-messages.ts";
import { uploads } from "../schema/uploads.ts";
import { workerLaunches } from "../schema/worker-launches.ts";
import type { WorkerLaunch } from "../worker-launches.ts";

/** Every job, in order of admission. */
export const listJobs = (db: Executor): Promise<Job[]> =>
  db.select().from(jobs).orderBy(asc(jobs.admittedAt));

/** The versions that a job's attempts published; more than one is a fault. */
export async function listVersionsOfJob(db: Executor, actionKey: string): Promise<MediaVersion[]> {
  const attempts = db
    .select({ id: jobAttempts.id })
    .from(jobAttempts)
    .where(eq(jobAttempts.actionKey, actionKey));
  return db.select().from(mediaVersions).where(inArray(mediaVersions.attemptId, attempts));
}

/** Assets that play something. */
export const listPlayableAssets = (db: Executor): Promise<{ id: string; activeVersionId: string | null }[]> =>
  db.select({ id: assets.id, activeVersionId: assets.activeVersionId }).from(assets);

/** A job's messages, the oldest first. */
export const listMessages = (db: Executor, actionKey: string): Promise<OutboxMessage[]> =>
  db
    .select()
    .from(outboxMessages)
    .where(eq(outboxMessages.actionKey, actionKey))
    .orderBy(asc(outboxMessages.createdAt));

/** A job's launches, the first first. */
export const listLaunches = (db: Executor, actionKey: string): Promise<WorkerLaunch[]> =>
  db
    .select()
    .from(workerLaunches)
    .where(eq(workerLaunches.actionKey, actionKey))
    .orderBy(asc(workerLaunches.beganAt));

/** A target's entries in the deletion ledger, the first first. */
export const listDeletions = (db: Executor, target: string): Promise<LedgerEntry[]> =>
  db
    .select()
    .from(deletionLedger)
    .where(eq(deletionLedger.target, target))
    .orderBy(asc(deletionLedger.createdAt));

/** Messages of jobs that have ended, which are due and still weren't dealt with. */
export const listStuckMessages = (db: Executor): Promise<{ kind: string; actionKey: string }[]> =>
  db
    .select({ kind: outboxMessages.kind, actionKey: outboxMessages.actionKey })
    .from(outboxMessages)
    .innerJoin(jobs, eq(jobs.actionKey, outboxMessages.actionKey))
    .where(
      and(
        eq(outboxMessages.state, "pending"),
        lte(outboxMessages.availableAt, now),
        notInArray(jobs.state, ["file-processing-ready", "job-received"]),
      ),
    );

/** What in the bucket somebody answers for. Keys and prefixes, relative to the bucket. */
export interface KnownObjects {
  /** Sources of uploads that are open or admitted. */
  readonly sourceKeys: readonly string[];
  readonly versions: readonly Pick<MediaVersion, "id" | "prefix" | "inventory">[];
  readonly runningPrefixes: readonly string[];
  /** Open entries of the deletion ledger. */
  readonly deletions: readonly { kind: "object" | "prefix"; target: string }[];
}

export async function readKnownObjects(db: Executor): Promise<KnownObjects> {
  const sources = await db
    .select({ key: uploads.key })
    .from(uploads)
    .where(inArray(uploads.state, ["url-created", "file-uploaded"]));
  const running = await db
    .select({ prefix: jobAttempts.outputPrefix })
    .from(jobAttempts)
    .where(eq(jobAttempts.state, "running"));
  return {
    sourceKeys: sources.map(({ key }) => key),
    versions: await db
      .select({ id: mediaVersions.id, prefix: mediaVersions.prefix, inventory: mediaVersions.inventory })
      .from(mediaVersions),
    runningPrefixes: running.map(({ prefix }) => prefix),
    deletions: await db
      .select({ kind: deletionLedger.kind, target: deletionLedger.target })
      .from(deletionLedger)
      .where(isNull(deletionLedger.confirmedAt)),
  };
}
