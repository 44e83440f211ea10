/** One launch of one worker for one job. */
export interface LaunchRequest {
  readonly actionKey: string;
  readonly generation: number;
  /** Idempotency key: launching twice with the same one gives one machine. */
  readonly provisioningToken: string;
  /** For choosing a machine's size. */
  readonly sourceSizeBytes: number;
}

/**
 * What became of a launch. `no-capacity` and `throttled` pass by themselves and use up no try; `invalid` doesn't,
 * and counts.
 */
export type LaunchOutcome =
  | { readonly outcome: "launched"; readonly machineId: string }
  | {
      readonly outcome: "refused";
      readonly reason: "no-capacity" | "throttled" | "invalid";
      readonly message: string;
    };

/** Where workers come from: a machine per job, a pool, or a local process. */
export interface WorkerFleet {
  launch(request: LaunchRequest): Promise<LaunchOutcome>;
  /** Machines launched and not confirmed gone. */
  alive(): Promise<string[]>;
  /** Ends a machine; nothing happens where it is gone. */
  terminate(machineId: string): Promise<void>;
}
