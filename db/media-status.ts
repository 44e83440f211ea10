/** What `GET /api/media/{actionKey}` needs, in one indexed query: it is polled. */
import { and, eq, sql } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { assets } from "./schema/assets.ts";
import { jobAttempts } from "./schema/job-attempts.ts";
import { jobs } from "./schema/jobs.ts";
import { mediaVersions } from "./schema/media-versions.ts";
import { uploads } from "./schema/uploads.ts";

/**
 * The row behind a media status. `placeInLine` counts from 1 among the jobs that wait; `elapsedSeconds` run from the
 * attempt's start to its last heartbeat, which also told its progress, so that nothing changes between two of them.
 */
export type MediaStatusRow = NonNullable<Awaited<ReturnType<typeof findMediaStatus>>>;

/** Null where there is no such upload. */
export async function findMediaStatus(db: Executor, actionKey: string) {
  const rows = await db
    .select({
      upload: uploads,
      ownerId: assets.ownerId,
      assetState: assets.state,
      job: jobs,
      versionNumber: mediaVersions.versionNumber,
      elapsedSeconds: sql<
        number | null
      >`extract(epoch from ${jobs.lastHeartbeatAt} - ${jobs.processingStartedAt})::float8`,
      placeInLine: sql<number | null>`case when ${jobs.state} = 'file-processing-ready' then (
        select count(*)::int from jobs ahead
        where ahead.state = 'file-processing-ready'
          and (ahead.admitted_at, ahead.action_key) <= (${jobs.admittedAt}, ${jobs.actionKey})
      ) end`,
    })
    .from(uploads)
    .innerJoin(assets, eq(assets.id, uploads.assetId))
    .leftJoin(jobs, eq(jobs.actionKey, uploads.actionKey))
    .leftJoin(jobAttempts, and(eq(jobAttempts.actionKey, jobs.actionKey), eq(jobAttempts.state, "succeeded")))
    .leftJoin(mediaVersions, eq(mediaVersions.attemptId, jobAttempts.id))
    .where(eq(uploads.actionKey, actionKey));
  return rows[0] ?? null;
}
