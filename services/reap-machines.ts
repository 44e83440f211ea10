import type { Machine, WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { recordLaunch } from "@reelkeep/db/job-launches";
import {
  closeAsGone,
  listOpenLaunches,
  markWanted,
  type OpenLaunch,
  reopenLaunch,
} from "@reelkeep/db/worker-launches";
import type { ServiceContext } from "./context.ts";
import { repeatLaunch } from "./recover-jobs.ts";
import { type SweepFailure, sweep } from "./sweep.ts";

type Needs = Pick<ServiceContext, "db" | "jobPolicy"> & { readonly fleet: WorkerFleet };

/** What one look at the fleet led to. */
export interface Reaping {
  /** Launches whose machine is confirmed gone: there is room for others. */
  readonly gone: number;
  /** Of them, launches that nobody had claimed and that are repeated. */
  readonly relaunches: number;
  /** Machines that no job wanted and that were ended. */
  readonly ended: number;
  /** Machines that no launch of this database knows. They are told, not ended: they may be somebody else's. */
  readonly strangers: readonly string[];
  readonly failures: readonly SweepFailure[];
}

/**
 * J6, J8: compares the launches that are open with the machines that are there. A machine that is gone makes room,
 * and its launch is repeated where nobody claimed; a machine without a live lease, for which no job waits, is ended.
 * The database and the fleet are asked in this order, so that what is launched meanwhile isn't taken for gone.
 *
 * @param options.betweenLaunches The caller launches nothing meanwhile and the fleet lists at once: then a launch
 * that isn't listed is gone, also one whose answer was lost.
 */
export async function reapMachines(
  needs: Needs,
  options: { betweenLaunches?: boolean } = {},
): Promise<Reaping> {
  const open = await listOpenLaunches(needs.db);
  const machines = await needs.fleet.alive();
  const met = new Set<Machine>();
  const { done, failures } = await sweep(
    open.map((entry) => ({ actionKey: entry.launch.actionKey, entry })),
    ({ entry }) => {
      const { provisioningToken, machineId } = entry.launch;
      const machine = machines.find(
        (each) => each.provisioningToken === provisioningToken || each.machineId === machineId,
      );
      if (machine) met.add(machine);
      return machine ? settlePresent(needs, entry, machine) : settleAbsent(needs, entry, options);
    },
  );
  const strangers: string[] = [];
  for (const machine of machines)
    if (!met.has(machine) && !(await readmit(needs, machine))) strangers.push(machine.machineId);
  const count = (outcome: Settled) => done.filter((each) => each === outcome).length;
  return {
    gone: count("gone") + count("relaunched"),
    relaunches: count("relaunched"),
    ended: count("ended"),
    strangers,
    failures,
  };
}

type Settled = "kept" | "ended" | "gone" | "relaunched";

/** The machine is there: it works, is on its way, or has been wanted by nobody for too long. */
async function settlePresent(
  { db, fleet, jobPolicy }: Needs,
  { launch, isWanted, unwantedSeconds }: OpenLaunch,
  machine: Machine,
): Promise<Settled> {
  const { actionKey, provisioningToken } = launch;
  // Its answer was lost: the fleet's list tells what it would have said.
  if (!launch.machineId) await recordLaunch(db, { actionKey, provisioningToken, machine });
  if (isWanted !== (launch.unwantedSince === null)) await markWanted(db, provisioningToken, isWanted);
  if (isWanted || unwantedSeconds < jobPolicy.idleMachineSeconds) return "kept";
  // Asked again right before: a claim may have come since.
  const [now] = await listOpenLaunches(db, provisioningToken);
  if (now?.isWanted) return "kept";
  await fleet.terminate(machine.machineId);
  return "ended";
}

/** The fleet doesn't list it. That it is gone is certain once it would have been listed if it were there. */
async function settleAbsent(
  needs: Needs,
  { launch, ageSeconds, isAwaited }: OpenLaunch,
  { betweenLaunches }: { betweenLaunches?: boolean },
): Promise<Settled> {
  const certainAfterSeconds = launch.machineId
    ? needs.fleet.listingLagSeconds
    : Math.max(needs.jobPolicy.launchSeconds, needs.fleet.listingLagSeconds);
  if (!betweenLaunches && ageSeconds < certainAfterSeconds) return "kept";
  await closeAsGone(needs.db, launch.provisioningToken);
  return isAwaited && (await repeatLaunch(needs, launch)) ? "relaunched" : "gone";
}

/** A machine without an open launch: one that is only now being launched, or was wrongly taken for gone. */
const readmit = async ({ db }: Needs, { provisioningToken }: Machine): Promise<boolean> =>
  provisioningToken !== null && (await reopenLaunch(db, provisioningToken));
