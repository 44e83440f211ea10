import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { findUnclaimedLaunches } from "@reelkeep/db/job-launches";
import type { ServiceContext } from "./context.ts";
import { type Recovery, repeatLaunch } from "./recover-jobs.ts";
import { sweep } from "./sweep.ts";

const batch = 100;

/**
 * J6: repeats launches whose worker is known to be gone without a claim, instead of waiting `launchSeconds` for it.
 * Only for a fleet of this process alone, between its launches: a machine that such a fleet doesn't know is dead, as
 * those of an earlier process are.
 */
export async function repeatDeadLaunches(
  needs: Pick<ServiceContext, "db" | "jobPolicy"> & { fleet: WorkerFleet },
): Promise<Pick<Recovery, "relaunches" | "failures">> {
  const unclaimed = await findUnclaimedLaunches(needs.db, 0, batch);
  const alive = new Set(await needs.fleet.alive());
  const dead = unclaimed.filter(({ machineId }) => !machineId || !alive.has(machineId));
  const { done, failures } = await sweep(dead, (job) => repeatLaunch(needs, job));
  return { relaunches: done.filter(Boolean).length, failures };
}
