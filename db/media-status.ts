/** What `GET /api/media/{actionKey}` needs, in one indexed query: it is polled. And the list of jobs for admins. */
import type { JobFilter } from "@reelkeep/core/api/jobs";
import { unfinishedJobStates } from "@reelkeep/core/job/machine";
import { and, asc, count, desc, eq, inArray, isNotNull, ne, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Executor } from "./client.ts";
import type { PageCursor } from "./page-cursor.ts";
import { assets } from "./schema/assets.ts";
import { jobAttempts } from "./schema/job-attempts.ts";
import { jobs } from "./schema/jobs.ts";
import { mediaVersions } from "./schema/media-versions.ts";
import { uploads } from "./schema/uploads.ts";
import { users } from "./schema/users.ts";

const owners = alias(users, "owners");
const cancellers = alias(users, "cancellers");
const running = alias(jobAttempts, "running");

/**
 * The columns behind a media status. `placeInLine` counts from 1 among the jobs that wait; `elapsedSeconds` run from
 * the attempt's start to its last heartbeat, which also told its progress, so that nothing changes between two of
 * them.
 */
const mediaColumns = {
  upload: {
    actionKey: uploads.actionKey,
    assetId: uploads.assetId,
    userId: uploads.userId,
    state: uploads.state,
    filename: uploads.filename,
    sizeBytes: uploads.sizeBytes,
    sourceRevision: uploads.sourceRevision,
    errorCode: uploads.errorCode,
    errorMessage: uploads.errorMessage,
    updatedAt: uploads.updatedAt,
  },
  ownerId: assets.ownerId,
  assetState: assets.state,
  job: {
    state: jobs.state,
    generation: jobs.generation,
    attemptCount: jobs.attemptCount,
    attemptLimit: jobs.attemptLimit,
    waitingReason: jobs.waitingReason,
    retryAt: jobs.retryAt,
    cancelRequestedAt: jobs.cancelRequestedAt,
    cancelledBy: jobs.cancelledBy,
    stage: jobs.stage,
    progressFraction: jobs.progressFraction,
    progressRenditions: jobs.progressRenditions,
    processByResolution: jobs.processByResolution,
    errorCode: jobs.errorCode,
    errorMessage: jobs.errorMessage,
    updatedAt: jobs.updatedAt,
  },
  cancellerName: cancellers.name,
  versionNumber: mediaVersions.versionNumber,
  elapsedSeconds: sql<
    number | null
  >`extract(epoch from ${jobs.lastHeartbeatAt} - ${jobs.processingStartedAt})::float8`,
  placeInLine: sql<number | null>`case when ${jobs.state} = 'file-processing-ready' then (
    select count(*)::int from jobs ahead
    where ahead.state = 'file-processing-ready'
      and (ahead.admitted_at, ahead.action_key) <= (${jobs.admittedAt}, ${jobs.actionKey})
  ) end`,
};

const hasSucceeded = and(eq(jobAttempts.actionKey, jobs.actionKey), eq(jobAttempts.state, "succeeded"));

export type MediaStatusRow = NonNullable<Awaited<ReturnType<typeof findMediaStatus>>>;

/** Prepared once for a pool and then once for each of its connections: half of a poll's cost would be planning. */
const statements = new WeakMap<Executor, ReturnType<typeof prepareMediaStatus>>();

const prepareMediaStatus = (db: Executor) =>
  db
    .select(mediaColumns)
    .from(uploads)
    .innerJoin(assets, eq(assets.id, uploads.assetId))
    .leftJoin(jobs, eq(jobs.actionKey, uploads.actionKey))
    .leftJoin(cancellers, eq(cancellers.id, jobs.cancelledBy))
    .leftJoin(jobAttempts, hasSucceeded)
    .leftJoin(mediaVersions, eq(mediaVersions.attemptId, jobAttempts.id))
    .where(eq(uploads.actionKey, sql.placeholder("actionKey")))
    .prepare("media_status");

/** Null where there is no such upload. */
export async function findMediaStatus(db: Executor, actionKey: string) {
  let statement = statements.get(db);
  if (!statement) {
    statement = prepareMediaStatus(db);
    statements.set(db, statement);
  }
  const rows = await statement.execute({ actionKey });
  return rows[0] ?? null;
}

/** Each filter with its order, for which there is an index: by admission, or the latest end first. */
const filters: Record<JobFilter, { where: SQL; order: SQL[]; after: (cursor: PageCursor) => SQL }> = {
  active: {
    where: inArray(jobs.state, [...unfinishedJobStates]),
    order: [asc(jobs.admittedAt), asc(jobs.actionKey)],
    after: ({ at, id }) =>
      sql`(${jobs.admittedAt}, ${jobs.actionKey}) > (${at.toISOString()}::timestamptz, ${id}::uuid)`,
  },
  failed: { where: eq(jobs.state, "failed"), ...latestEndFirst() },
  ended: { where: isNotNull(jobs.endedAt), ...latestEndFirst() },
};

function latestEndFirst() {
  return {
    order: [desc(jobs.endedAt), desc(jobs.actionKey)],
    after: ({ at, id }: PageCursor) =>
      sql`(${jobs.endedAt}, ${jobs.actionKey}) < (${at.toISOString()}::timestamptz, ${id}::uuid)`,
  };
}

export type JobListRow = Awaited<ReturnType<typeof listJobs>>[number];

/** One page of jobs with what their owners see of them, their assets and the attempts that run; not of deleted assets. */
export const listJobs = (
  db: Executor,
  page: { filter: JobFilter; cursor: PageCursor | null; limit: number },
) =>
  db
    .select({ ...mediaColumns, job: jobs, asset: assets, ownerName: owners.name, running })
    .from(jobs)
    .innerJoin(uploads, eq(uploads.actionKey, jobs.actionKey))
    .innerJoin(assets, eq(assets.id, jobs.assetId))
    .innerJoin(owners, eq(owners.id, assets.ownerId))
    .leftJoin(cancellers, eq(cancellers.id, jobs.cancelledBy))
    .leftJoin(running, eq(running.id, jobs.beingProcessedBy))
    .leftJoin(jobAttempts, hasSucceeded)
    .leftJoin(mediaVersions, eq(mediaVersions.attemptId, jobAttempts.id))
    .where(
      and(
        filters[page.filter].where,
        page.cursor ? filters[page.filter].after(page.cursor) : undefined,
        ne(assets.state, "deleted"),
      ),
    )
    .orderBy(...filters[page.filter].order)
    .limit(page.limit);

/** Jobs that wait for a worker. */
export async function countWaiting(db: Executor): Promise<number> {
  const rows = await db
    .select({ waiting: count() })
    .from(jobs)
    .where(eq(jobs.state, "file-processing-ready"));
  return rows[0]?.waiting ?? 0;
}
