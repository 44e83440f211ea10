import type { LaunchOutcome, LaunchRequest, Machine, WorkerFleet } from "@reelkeep/aws/worker-fleet";

/** Machines that can't exist here: what was launched is there until a test or a service ends it. */
export interface TestFleet extends WorkerFleet {
  /** What was asked for, in order. */
  readonly requests: LaunchRequest[];
  readonly machines: Map<string, Machine>;
  /** Machines that a service has ended, in order. */
  readonly terminated: string[];
  /** The most machines that were there at once. */
  readonly aliveMax: number;
}

/** The machine of a launch. */
export const machineOf = (request: Pick<LaunchRequest, "provisioningToken">): Machine => ({
  machineId: `machine-${request.provisioningToken}`,
  provisioningToken: request.provisioningToken,
  machineType: "test.large",
  usdPerHour: 1,
});

/**
 * @param answer what a launch is refused with; it may throw, as a lost answer does (with or without a machine that
 * comes, as `machines` then says). Null: a machine comes.
 */
export function createTestFleet(
  answer: (request: LaunchRequest, fleet: TestFleet) => LaunchOutcome | null = () => null,
): TestFleet {
  const machines = new Map<string, Machine>();
  const requests: LaunchRequest[] = [];
  const terminated: string[] = [];
  let aliveMax = 0;
  const fleet: TestFleet = {
    requests,
    machines,
    terminated,
    get aliveMax() {
      return aliveMax;
    },
    listingLagSeconds: 0,
    async launch(request) {
      requests.push(request);
      const refusal = answer(request, fleet);
      if (refusal) return refusal;
      const machine = machineOf(request);
      machines.set(machine.machineId, machine);
      aliveMax = Math.max(aliveMax, machines.size);
      return { outcome: "launched", machine };
    },
    alive: async () => [...machines.values()],
    async terminate(machineId) {
      terminated.push(machineId);
      machines.delete(machineId);
    },
  };
  return fleet;
}
