/** Numbers that rule a job's life. All are seconds unless the name says otherwise. */
export interface JobPolicy {
  /** How long a lease lasts after a claim or a heartbeat. */
  readonly leaseSeconds: number;
  /** The lease thread's rhythm; a third of the lease, so that two beats may be lost. */
  readonly heartbeatSeconds: number;
  /** An attempt in which nothing moves for so long is ended as `stalled`. */
  readonly stallSeconds: number;
  /** The wait before the second attempt; doubled before each further one. */
  readonly retryBackoffSeconds: number;
  /** Machines alive at once: launched and not confirmed gone, orphans included. */
  readonly workersMax: number;
  /** What machines may cost in a day (UTC), in US dollars at list price; null: no limit. */
  readonly dailyBudgetUsd: number | null;
  /** A launch that nobody claimed for so long is taken for dead. */
  readonly launchSeconds: number;
  /** Launches without a claim before the job fails with `worker-never-started`. */
  readonly launchesMax: number;
  /** A machine that no job wants is ended after so long; a worker needs less to leave by itself. */
  readonly idleMachineSeconds: number;
}

export const defaultJobPolicy: JobPolicy = {
  leaseSeconds: 90,
  heartbeatSeconds: 30,
  stallSeconds: 300,
  retryBackoffSeconds: 20,
  workersMax: 4,
  dailyBudgetUsd: null,
  launchSeconds: 600,
  launchesMax: 3,
  idleMachineSeconds: 60,
};

/** The wait after the `failureCount`th failure (from 1) of a generation: doubled each time, at most ten minutes. */
export const retryDelaySeconds = (
  failureCount: number,
  policy: Pick<JobPolicy, "retryBackoffSeconds">,
): number => Math.min(600, policy.retryBackoffSeconds * 2 ** (failureCount - 1));

/** Attempts that one generation gets. */
export const attemptsPerGeneration = 3;

/** How long after its end an attempt's output is kept before the ledger removes it. */
export const attemptCleanupDelaySeconds = 3600;

/** How long a deleted asset's objects are kept: for whoever was watching, and for second thoughts of an operator. */
export const assetCleanupDelaySeconds = 3600;

/** When the ledger looks again at what it deleted: an orphan or a URL still valid may have written since. */
export const secondLookSeconds = 24 * 3600;
