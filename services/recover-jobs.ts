import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { AppError } from "@reelkeep/core/errors";
import { retryDelaySeconds } from "@reelkeep/core/job/policy";
import { countFailures, findAttempt } from "@reelkeep/db/job-attempts";
import { endLaunch, findUnclaimedLaunches } from "@reelkeep/db/job-launches";
import {
  giveUpLaunching,
  recoverJob,
  recoverJobAsCancelled,
  recoverJobAsFailed,
} from "@reelkeep/db/job-moves";
import { findExpiredLeases, findJob, type Job, lockJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import type { ServiceContext } from "./context.ts";
import { announce, closeAttempt } from "./fail-attempt.ts";
import { type SweepFailure, sweep } from "./sweep.ts";

/** How many of each the sweep set right. */
export interface Recovery {
  readonly expiredLeases: number;
  readonly relaunches: number;
  /** Jobs that couldn't be dealt with this time. */
  readonly failures: readonly SweepFailure[];
}

const batch = 100;

/**
 * J6: the sweep. Expired leases are returned, failed or cancelled; launches that nobody claimed are ended and
 * repeated. Any number of sweeps may run at once: each job is decided under its row's lock by a guarded move.
 */
export async function recoverJobs(
  needs: Pick<ServiceContext, "db" | "jobPolicy"> & { fleet: WorkerFleet },
): Promise<Recovery> {
  const { db, jobPolicy } = needs;
  const leases = await sweep(await findExpiredLeases(db, batch), ({ actionKey }) =>
    recoverExpiredLease(needs, actionKey),
  );
  const launches = await sweep(await findUnclaimedLaunches(db, jobPolicy.launchSeconds, batch), (job) =>
    repeatLaunch(needs, job),
  );
  return {
    expiredLeases: leases.done.filter(Boolean).length,
    relaunches: launches.done.filter(Boolean).length,
    failures: [...leases.failures, ...launches.failures],
  };
}

/** J6: one expired lease. False where another sweep, or a late heartbeat, was quicker. */
async function recoverExpiredLease(
  { db, jobPolicy }: Pick<ServiceContext, "db" | "jobPolicy">,
  actionKey: string,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const job = await lockJob(tx, actionKey);
    const attempt = job?.beingProcessedBy ? await findAttempt(tx, job.beingProcessedBy) : null;
    if (!job || !attempt) return false;
    const lost = new AppError("worker-lost");
    const error = { errorCode: lost.code, errorMessage: lost.message };
    const backoffSeconds = retryDelaySeconds((await countFailures(tx, attempt)) + 1, jobPolicy);
    const recovered = job.cancelRequestedAt
      ? await recoverJobAsCancelled(tx, actionKey)
      : ((await recoverJob(tx, actionKey, { ...error, backoffSeconds })) ??
        (await recoverJobAsFailed(tx, actionKey, error)));
    if (!recovered) return false;
    await closeAttempt(tx, "expire", attempt, error);
    await announce(tx, recovered, backoffSeconds);
    return true;
  });
}

/**
 * J6: a launch that gave no worker. Its machine, if there is one, is ended first, also where the answer to its launch
 * was lost and only the fleet knows it; so the next launch can't meet it. The row is read right before, and asked
 * again after, because a worker may have claimed since the sweep looked.
 */
export async function repeatLaunch(
  { db, jobPolicy, fleet }: Pick<ServiceContext, "db" | "jobPolicy"> & { fleet: WorkerFleet },
  { actionKey, provisioningToken }: Pick<Job, "actionKey" | "provisioningToken">,
): Promise<boolean> {
  const job = await findJob(db, actionKey);
  if (!provisioningToken || job?.provisioningToken !== provisioningToken) return false;
  if (job.state !== "file-processing-ready") return false;
  for (const machine of await fleet.alive())
    if (machine.provisioningToken === provisioningToken || machine.machineId === job.machineId)
      await fleet.terminate(machine.machineId);
  const dead = { actionKey, provisioningToken };
  return db.transaction(async (tx) => {
    if (job.launchCount >= jobPolicy.launchesMax) {
      const error = new AppError("worker-never-started");
      const failed = await giveUpLaunching(tx, dead, { errorCode: error.code, errorMessage: error.message });
      if (failed) await announce(tx, failed, 0);
      return failed !== null;
    }
    const ended = await endLaunch(tx, { ...dead, reason: "queued", countsAsLaunch: true });
    if (ended) await writeOutbox(tx, { kind: "launch-worker", actionKey, generation: job.generation });
    return ended;
  });
}
