import { type Actor, mayDo } from "@reelkeep/core/access/policy";
import type { JobFilter, JobList, JobListQuery, JobRow } from "@reelkeep/core/api/jobs";
import { AppError } from "@reelkeep/core/errors";
import { countWaiting, type JobListRow, listJobs as list } from "@reelkeep/db/media-status";
import type { PageCursor } from "@reelkeep/db/page-cursor";
import { listProvisioningErrors } from "@reelkeep/db/provisioning-errors";
import { countOpenLaunches, sumSpentToday } from "@reelkeep/db/worker-launches";
import type { ServiceContext } from "./context.ts";
import { describeMedia } from "./describe-media.ts";
import { readCursor, writeCursor } from "./page-cursor.ts";

const pageSize = 50;
const errorsShown = 10;
const errorsSeconds = 7 * 24 * 3600;

/**
 * X2, J8: one page of jobs, for admins, with the machines that are alive and what they cost today.
 *
 * @throws AppError `forbidden`, `invalid-request` for a cursor that we didn't write.
 */
export async function listJobs(
  {
    db,
    jobPolicy,
  }: Pick<ServiceContext, "db"> & {
    jobPolicy: Pick<ServiceContext["jobPolicy"], "workersMax" | "dailyBudgetUsd">;
  },
  actor: Actor,
  query: JobListQuery,
): Promise<JobList> {
  if (!mayDo(actor, "see-jobs")) throw new AppError("forbidden");
  const cursor = query.cursor ? readCursor(query.cursor) : null;
  const [rows, alive, waiting, todayUsd, errors] = await Promise.all([
    list(db, { filter: query.filter, cursor, limit: pageSize + 1 }),
    countOpenLaunches(db),
    countWaiting(db),
    sumSpentToday(db),
    listProvisioningErrors(db, { seconds: errorsSeconds, limit: errorsShown }),
  ]);
  const page = rows.slice(0, pageSize);
  const last = page.at(-1);
  return {
    jobs: page.map((row) => toRow(row, actor)),
    nextCursor: rows.length > pageSize && last ? writeCursor(endOf(query.filter, last)) : null,
    workers: { alive, max: jobPolicy.workersMax, waiting },
    spending: { todayUsd, budgetUsd: jobPolicy.dailyBudgetUsd },
    provisioningErrors: errors.map(({ actionKey, machineId, errorCode, at }) => ({
      actionKey,
      machineId,
      code: errorCode,
      at: at.toISOString(),
    })),
  };
}

const endOf = (filter: JobFilter, { job }: JobListRow): PageCursor => ({
  at: filter === "active" ? job.admittedAt : job.endedAt!,
  id: job.actionKey,
});

function toRow(row: JobListRow, actor: Actor): JobRow {
  const { job, asset, running } = row;
  return {
    media: describeMedia(row, actor),
    asset: { id: asset.id, title: asset.title, state: asset.state },
    owner: { id: asset.ownerId, name: row.ownerName },
    admittedAt: job.admittedAt.toISOString(),
    endedAt: job.endedAt?.toISOString() ?? null,
    worker: running && {
      attemptId: running.id,
      workerId: running.workerId,
      machineId: running.machineId,
      startedAt: running.startedAt.toISOString(),
      lastHeartbeatAt: running.lastHeartbeatAt.toISOString(),
      leaseExpiresAt: job.leaseExpiryTime!.toISOString(),
    },
  };
}
