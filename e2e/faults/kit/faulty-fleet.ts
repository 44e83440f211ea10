/** A fleet whose launches a test refuses, loses, or lets come to nothing; everything else is the real one. */
import type { LaunchOutcome, LaunchRequest, Machine, WorkerFleet } from "@reelkeep/aws/worker-fleet";
import type { LocalFleet } from "@reelkeep/local/fleet";

/** What becomes of one launch. */
export type LaunchFault =
  /** A definite refusal. */
  | { readonly refused: "no-capacity" | "throttled" | "invalid" }
  /** The answer is lost, and with it nothing or a machine: one with a worker, or one without. */
  | { readonly lost: "nothing" | "worker" | "idle-machine" }
  /** A machine comes, and no worker ever starts on it. */
  | "idle-machine";

export interface FaultyFleet {
  /** For `startFaultStack`. */
  readonly before: (real: LocalFleet) => WorkerFleet;
  /** The next launches come to this, one each; those after them are real. */
  fail(...faults: LaunchFault[]): void;
  /** Every launch that was asked for, in order. */
  readonly requests: readonly LaunchRequest[];
  /** Machines that were ended by whoever launched them, in order. */
  readonly ended: readonly string[];
  /** Launches of a job while another machine of the same job was still there. Always none. */
  readonly doubled: readonly LaunchRequest[];
  /** The most machines that were there at once. */
  aliveMax(): number;
}

export function createFaultyFleet(): FaultyFleet {
  const faults: LaunchFault[] = [];
  const requests: LaunchRequest[] = [];
  const ended: string[] = [];
  const doubled: LaunchRequest[] = [];
  const idle = new Map<string, Machine>();
  let aliveMax = 0;

  const startIdle = ({ provisioningToken }: LaunchRequest): LaunchOutcome => {
    const machineId = `idle-${provisioningToken}`;
    const machine = { machineId, provisioningToken, machineType: "idle", usdPerHour: 0 };
    idle.set(machineId, machine);
    return { outcome: "launched", machine };
  };

  return {
    before: (real) => {
      const alive = async () => [...(await real.alive()), ...idle.values()];
      const note = async (request: LaunchRequest) => {
        const tokens = requests
          .filter(({ actionKey }) => actionKey === request.actionKey)
          .map(({ provisioningToken }) => provisioningToken);
        if ((await alive()).some((machine) => tokens.includes(machine.provisioningToken!)))
          doubled.push(request);
        requests.push(request);
      };
      return {
        listingLagSeconds: real.listingLagSeconds,
        alive,
        async launch(request) {
          await note(request);
          const fault = faults.shift();
          try {
            return await launchWith(fault, request, { startIdle, startWorker: real.launch });
          } finally {
            aliveMax = Math.max(aliveMax, (await alive()).length);
          }
        },
        async terminate(machineId) {
          ended.push(machineId);
          if (!idle.delete(machineId)) await real.terminate(machineId);
        },
      };
    },
    fail: (...next) => faults.push(...next),
    requests,
    ended,
    doubled,
    aliveMax: () => aliveMax,
  };
}

async function launchWith(
  fault: LaunchFault | undefined,
  request: LaunchRequest,
  start: {
    startIdle: (request: LaunchRequest) => LaunchOutcome;
    startWorker: (request: LaunchRequest) => Promise<LaunchOutcome>;
  },
): Promise<LaunchOutcome> {
  if (fault === undefined) return start.startWorker(request);
  if (fault === "idle-machine") return start.startIdle(request);
  if ("refused" in fault)
    return { outcome: "refused", reason: fault.refused, message: `A test refuses: ${fault.refused}.` };
  if (fault.lost === "worker") await start.startWorker(request);
  if (fault.lost === "idle-machine") start.startIdle(request);
  throw new Error("A test has lost the answer.");
}
