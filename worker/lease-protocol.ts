/** What the main thread and the lease thread say to each other, and what both can see while the other is blocked. */
import type { JobPolicy } from "@reelkeep/core/job/policy";
import type { Progress } from "@reelkeep/db/jobs";
import type { HeartbeatAnswer } from "@reelkeep/services/heartbeat";

/** What the lease thread is started with. */
export interface LeaseThreadData {
  readonly databaseUrl: string;
  readonly actionKey: string;
  readonly attemptId: string;
  readonly policy: JobPolicy;
  /** By {@link monotonicMs}, before the claim was asked: the lease can't have begun earlier. */
  readonly claimAskedAtMs: number;
  readonly progress: Progress;
  /** Of {@link leaseBoard}. */
  readonly board: SharedArrayBuffer;
}

/** Main → thread: the newest progress. A thread whose work is over is terminated. */
export type ToLeaseThread = Progress;

/**
 * Thread → main: stop everything. `stalled`: nothing has moved for the policy's `stallSeconds` (J12). That time is up
 * needs no message: main reads it off the board.
 */
export type FromLeaseThread = Exclude<HeartbeatAnswer, "continue"> | "stalled";

/** Memory of both threads: it is read and written also while the other thread is blocked. */
export interface LeaseBoard {
  readonly buffer: SharedArrayBuffer;
  /** Main: something has moved. */
  moved(): void;
  /** How often that was said. */
  moves(): bigint;
  /** Thread: the lease was renewed, so main may work until then, by {@link monotonicMs}. */
  allowUntil(stopsAtMs: number): void;
  stopsAtMs(): number;
}

/** A view of the board in `buffer`; a new board without one, on which time is up already. */
export function leaseBoard(buffer = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)): LeaseBoard {
  const cells = new BigInt64Array(buffer);
  const [moves, stopsAt] = [0, 1];
  return {
    buffer,
    moved: () => void Atomics.add(cells, moves, 1n),
    moves: () => Atomics.load(cells, moves),
    allowUntil: (stopsAtMs) => void Atomics.store(cells, stopsAt, BigInt(Math.floor(stopsAtMs))),
    stopsAtMs: () => Number(Atomics.load(cells, stopsAt)),
  };
}

/** When a lease ends that was renewed by a question asked at `askedAtMs`: no later than the database says. */
export const leaseEndsAtMs = (askedAtMs: number, { leaseSeconds }: JobPolicy): number =>
  askedAtMs + leaseSeconds * 1000;

/** When main must stop: so long before the lease ends as it may take to end FFmpeg and to leave. */
export const stopsAtMs = (askedAtMs: number, policy: JobPolicy): number =>
  leaseEndsAtMs(askedAtMs, policy) - Math.min(15_000, (policy.leaseSeconds * 1000) / 4);

/** Milliseconds by a clock that all threads share and nobody sets; `performance.now()` begins anew in each thread. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
