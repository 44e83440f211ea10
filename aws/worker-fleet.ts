/** One launch of one worker for one job. */
export interface LaunchRequest {
  readonly actionKey: string;
  readonly generation: number;
  /** Idempotency key: launching twice with the same one gives one machine. */
  readonly provisioningToken: string;
  /** For choosing a machine's size, with the next two. */
  readonly sourceSizeBytes: number;
  /** Null where the cheap probe couldn't tell. */
  readonly sourceDurationSeconds: number | null;
  readonly profile: string;
}

/** A machine as its fleet tells it. */
export interface Machine {
  readonly machineId: string;
  /** The launch that gave it; null where the fleet can't tell. */
  readonly provisioningToken: string | null;
  readonly machineType: string;
  /** What an hour of it costs at list price, in US dollars; 0 for a machine that is there anyway. */
  readonly usdPerHour: number;
}

/**
 * What became of a launch. `no-capacity` and `throttled` pass by themselves and use up no try; `invalid` doesn't,
 * and counts. A refusal is definite: no machine comes of this launch. Where the answer is unknown, `launch` throws.
 */
export type LaunchOutcome =
  | { readonly outcome: "launched"; readonly machine: Machine }
  | {
      readonly outcome: "refused";
      readonly reason: "no-capacity" | "throttled" | "invalid";
      readonly message: string;
    };

/** Where workers come from: a machine per job, a pool, or a local process. */
export interface WorkerFleet {
  /** How long a new machine may be missing from `alive()`, in seconds. */
  readonly listingLagSeconds: number;
  /** @throws where it isn't known whether a machine comes. Launching again with the same token is then safe. */
  launch(request: LaunchRequest): Promise<LaunchOutcome>;
  /** Machines of this fleet that aren't confirmed gone. */
  alive(): Promise<Machine[]>;
  /** Ends a machine; nothing happens where it is gone. */
  terminate(machineId: string): Promise<void>;
}
