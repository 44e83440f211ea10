import { randomUUID } from "node:crypto";
import { type JobMove, type JobState, jobMachine, jobStates } from "@reelkeep/core/job/machine";
import type { Guard } from "@reelkeep/core/machine";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, type OpenDatabase, openDatabase, type Transaction } from "./client.ts";
import { beginLaunch, findUnclaimedLaunches } from "./job-launches.ts";
import * as moves from "./job-moves.ts";
import { findExpiredLeases, findJob } from "./jobs.ts";
import { jobs } from "./schema/jobs.ts";
import { travel } from "./testing/clock.ts";
import { type SeededJob, seedJob } from "./testing/seed.ts";

let test: TestDatabase;
let open: OpenDatabase;
let db: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  open = openDatabase(test.url);
  db = open.db;
});
afterAll(async () => {
  await open.close();
  await test.drop();
});

const error = { errorCode: "worker-lost", errorMessage: "The worker stopped answering." };
const progress = { stage: "encode" as const, fraction: 0.5, renditions: [], processByResolution: {} };

/** Every move of the machine as the code makes it: a move that is missing here doesn't compile. */
const make: Record<JobMove, (tx: Transaction, seeded: SeededJob, attemptId: string) => Promise<unknown>> = {
  claim: (tx, { job }, attemptId) =>
    moves.claimJob(tx, {
      actionKey: job.actionKey,
      generation: 1,
      attemptId,
      leaseSeconds: 60,
      machineId: null,
    }),
  heartbeat: (tx, { job }, attemptId) =>
    moves.heartbeatJob(tx, { actionKey: job.actionKey, attemptId, leaseSeconds: 60, progress }),
  publish: (tx, { job }, attemptId) =>
    moves.completeJob(tx, { actionKey: job.actionKey, attemptId }, progress),
  "retry-later": (tx, { job }, attemptId) =>
    moves.retryJobLater(tx, { actionKey: job.actionKey, attemptId }, { ...error, backoffSeconds: 10 }),
  fail: (tx, { job }, attemptId) => moves.failJob(tx, { actionKey: job.actionKey, attemptId }, error),
  "hand-back": (tx, { job }, attemptId) => moves.handBackJob(tx, { actionKey: job.actionKey, attemptId }),
  "obey-cancel": (tx, { job }, attemptId) => moves.obeyCancel(tx, { actionKey: job.actionKey, attemptId }),
  recover: (tx, { job }) => moves.recoverJob(tx, job.actionKey, { ...error, backoffSeconds: 10 }),
  "recover-as-failed": (tx, { job }) => moves.recoverJobAsFailed(tx, job.actionKey, error),
  "recover-as-cancelled": (tx, { job }) => moves.recoverJobAsCancelled(tx, job.actionKey),
  "give-up-launching": async (tx, { job }) => {
    const launch = { actionKey: job.actionKey, provisioningToken: randomUUID() };
    await tx.update(jobs).set(launch).where(eq(jobs.actionKey, job.actionKey));
    return moves.giveUpLaunching(tx, launch, error);
  },
  cancel: (tx, { job }) => moves.cancelWaitingJob(tx, job.actionKey, "a person"),
  "request-cancel": (tx, { job }) => moves.requestCancel(tx, job.actionKey, "a person"),
  supersede: async (tx, { job, assetId }) => {
    const older = { assetId, olderThanRevision: job.sourceRevision + 1 };
    const moved = await moves.supersedeJobs(tx, older, "superseded");
    return moved.length > 0 ? moved : null;
  },
  reopen: (tx, { job }) => moves.reopenJob(tx, job.actionKey, job.generation),
};

const allowed = (state: JobState, move: JobMove, lease: "live" | "expired" | "foreign"): boolean => {
  const { from, guard } = jobMachine.transitions[move] as { from: readonly JobState[]; guard: Guard };
  if (!from.includes(state)) return false;
  if (guard === "lease-held") return lease === "live";
  if (guard === "lease-expired") return lease === "expired";
  return true;
};

const pairs = jobStates.flatMap((state) =>
  (Object.keys(jobMachine.transitions) as JobMove[]).flatMap((move) =>
    (state === "job-received" ? (["live", "expired", "foreign"] as const) : (["live"] as const)).map(
      (lease) => ({
        state,
        move,
        lease,
        verdict: allowed(state, move, lease) ? "moves" : "changes nothing",
      }),
    ),
  ),
);

describe("J2 every state × move pair, against the database", () => {
  it.each(pairs)("J2 $state + $move ($lease lease) $verdict", async ({ state, move, lease, verdict }) => {
    const seeded = await seedJob(db, state, { leaseSeconds: lease === "expired" ? -1 : 60 });
    const attemptId = lease === "foreign" || !seeded.attempt ? randomUUID() : seeded.attempt.id;
    const isClaim = move === "claim";
    const result = await db
      .transaction(async (tx) => {
        const moved = await make[move](tx, seeded, attemptId);
        // A claim alone breaks the deferred foreign key: its attempt's row belongs to the same transaction.
        if (isClaim && moved) throw new Claimed();
        return moved;
      })
      .catch((thrown: unknown) => {
        if (thrown instanceof Claimed) return thrown;
        throw thrown;
      });
    expect(result === null ? "changes nothing" : "moves").toBe(verdict);
    if (isClaim) return;
    const after = await findJob(db, seeded.job.actionKey);
    expect(after?.state).toBe(verdict === "moves" ? jobMachine.transitions[move].to : state);
  });
});

class Claimed extends Error {}

describe("J2 the database's own clock and constraints", () => {
  it("J2 a lease ends by the database's clock, whatever the caller's says", async () => {
    const { job, attempt } = await seedJob(db, "job-received", { leaseSeconds: 60 });
    const beat = { actionKey: job.actionKey, attemptId: attempt!.id, leaseSeconds: 60, progress };
    expect(await moves.heartbeatJob(db, beat)).not.toBeNull();
    await travel(db, 61);
    try {
      expect(await moves.heartbeatJob(db, beat)).toBeNull();
      expect(await findExpiredLeases(db, 1000)).toContainEqual({ actionKey: job.actionKey });
    } finally {
      await travel(db, 0);
    }
  });

  it("J2 a row in job-received without a lease, or a lease in any other state, can't exist", async () => {
    const { job } = await seedJob(db, "file-processing-ready");
    const set = (values: Partial<typeof jobs.$inferInsert>) =>
      db.update(jobs).set(values).where(eq(jobs.actionKey, job.actionKey));
    await expect(set({ state: "job-received", waitingReason: null })).rejects.toThrow();
    await expect(set({ beingProcessedBy: randomUUID(), leaseExpiryTime: new Date() })).rejects.toThrow();
    await expect(set({ waitingReason: null })).rejects.toThrow();
  });

  it("J5 an attempt beyond the limit can't be claimed", async () => {
    const { job } = await seedJob(db);
    await db.update(jobs).set({ attemptCount: 3 }).where(eq(jobs.actionKey, job.actionKey));
    const claim = {
      actionKey: job.actionKey,
      generation: 1,
      attemptId: randomUUID(),
      leaseSeconds: 60,
      machineId: null,
    };
    expect(await db.transaction((tx) => moves.claimJob(tx, claim))).toBeNull();
  });

  it("J6 of two launches of one job, one begins", async () => {
    const { job } = await seedJob(db);
    const begin = () =>
      db.transaction((tx) =>
        beginLaunch(tx, { actionKey: job.actionKey, generation: 1, provisioningToken: randomUUID() }),
      );
    const begun = await Promise.all(Array.from({ length: 8 }, begin));
    expect(begun.filter((row) => row !== null)).toHaveLength(1);
  });

  it("J6 a launch that was claimed isn't looked for again when its job goes back to waiting", async () => {
    const { job, attempt } = await seedJob(db, "job-received");
    const launch = { launchedAt: new Date(0), provisioningToken: randomUUID() };
    await db.update(jobs).set(launch).where(eq(jobs.actionKey, job.actionKey));
    const lease = { actionKey: job.actionKey, attemptId: attempt!.id };
    await db.transaction((tx) => moves.retryJobLater(tx, lease, { ...error, backoffSeconds: 10 }));
    expect(await findJob(db, job.actionKey)).toMatchObject({ launchedAt: null });
    const unclaimed = await findUnclaimedLaunches(db, 0, 1000);
    expect(unclaimed.map(({ actionKey }) => actionKey)).not.toContain(job.actionKey);
  });
});
