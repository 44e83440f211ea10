/** The queries of the control loop, the status poll and the list of jobs: the product's own functions, on a line that is short. */
import { randomUUID } from "node:crypto";
import type { Database, Transaction } from "@reelkeep/db/client";
import { enterDeletion, isStillNeeded, takeDueDeletion } from "@reelkeep/db/deletion-ledger";
import { beginLaunch, findUnclaimedLaunches, markWaiting } from "@reelkeep/db/job-launches";
import { claimJob, heartbeatJob } from "@reelkeep/db/job-moves";
import { findExpiredLeases } from "@reelkeep/db/jobs";
import { countWaiting, findMediaStatus, listJobs } from "@reelkeep/db/media-status";
import { takeLaunch, takeOutbox, writeOutbox } from "@reelkeep/db/outbox";
import { listProvisioningErrors } from "@reelkeep/db/provisioning-errors";
import { type SeededJob, seedJob } from "@reelkeep/db/testing/seed";
import { findAbandonedUploads, insertUpload, sumUploads } from "@reelkeep/db/uploads";
import { countOpenLaunches, listOpenLaunches, sumSpentToday } from "@reelkeep/db/worker-launches";

/** What is alive in a database whose history may be long. */
export interface Line {
  readonly waiting: SeededJob;
  readonly processing: SeededJob;
  /** A job of the history. */
  readonly finishedKey: string;
}

/** A few jobs in every state that the loops look for, and what else is due. */
export async function formLine(db: Database, finishedKey: string): Promise<Line> {
  const waiting: SeededJob[] = [];
  for (let n = 0; n < 12; n++) {
    const seeded = await seedJob(db);
    waiting.push(seeded);
    const intent = { actionKey: seeded.job.actionKey, generation: 1 };
    await db.transaction((tx) => writeOutbox(tx, { kind: "launch-worker", ...intent }));
    if (n < 4) await db.transaction((tx) => beginLaunch(tx, { ...intent, provisioningToken: randomUUID() }));
    if (n < 4) await db.transaction((tx) => writeOutbox(tx, { kind: "job-ended", ...intent }));
  }
  const processing = await seedJob(db, "job-received", { leaseSeconds: 3600 });
  for (let n = 0; n < 3; n++) await seedJob(db, "job-received", { leaseSeconds: -60 });
  for (let n = 0; n < 5; n++) {
    const { assetId, userId } = waiting[n]!;
    const actionKey = randomUUID();
    const key = `uploads/${userId}/${actionKey}/source.mp4`;
    await enterDeletion(db, { kind: "object", target: key, reason: "upload-expired", delaySeconds: 0 });
    const file = { filename: "film.mp4", contentType: "video/mp4", sizeBytes: 1000 };
    const sent = { method: "put", checksumSha256: null, partSizeBytes: null } as const;
    await db.transaction((tx) => insertUpload(tx, { actionKey, assetId, userId, key, ...file, ...sent }));
  }
  return { waiting: waiting.at(-1)!, processing, finishedKey };
}

/** One of the product's queries, and the indexes of which its plan must use one. */
export interface LoopQuery {
  readonly name: string;
  readonly indexes: readonly string[];
  /** In a transaction that is rolled back. */
  run(tx: Transaction, line: Line): Promise<unknown>;
}

const target = "processed/nobody/attempt-1/";
const ledgerEntry = {
  id: randomUUID(),
  kind: "prefix" as const,
  target,
  reason: "attempt-failed",
  dueAt: new Date(),
  deletedAt: null,
  confirmedAt: null,
  failureCount: 0,
  lastError: null,
  createdAt: new Date(),
};
/** Those of unfinished jobs alone: each is short, and which is taken is the planner's choice. */
const ofTheLine = ["jobs_waiting", "jobs_unfinished"];
const weekMs = 7 * 24 * 3600_000;
const progress = { stage: "encode", fraction: 0.5, renditions: [], processByResolution: {} } as const;

export const loopQueries: readonly LoopQuery[] = [
  {
    name: "takeLaunch",
    indexes: ["outbox_due"],
    run: (tx) => takeLaunch(tx, { dueBy: new Date(Date.now() + 1000), lockSeconds: 60 }),
  },
  {
    name: "beginLaunch",
    indexes: ["jobs_pkey", ...ofTheLine],
    run: (tx, { waiting: { job } }) =>
      beginLaunch(tx, { actionKey: job.actionKey, generation: 1, provisioningToken: randomUUID() }),
  },
  {
    name: "markWaiting",
    indexes: ["outbox_due", ...ofTheLine],
    run: (tx) => markWaiting(tx, "waiting-for-slot"),
  },
  { name: "countOpenLaunches", indexes: ["worker_launches_open"], run: (tx) => countOpenLaunches(tx) },
  { name: "listOpenLaunches", indexes: ["worker_launches_open"], run: (tx) => listOpenLaunches(tx) },
  { name: "sumSpentToday", indexes: ["worker_launches_gone"], run: (tx) => sumSpentToday(tx) },
  {
    name: "takeOutbox",
    indexes: ["outbox_due"],
    // Within a transaction, its own one is a savepoint.
    run: (tx) => takeOutbox(tx as unknown as Database, { kind: "job-ended", limit: 20, lockSeconds: 60 }),
  },
  {
    name: "findExpiredLeases",
    indexes: ["jobs_leases", ...ofTheLine],
    run: (tx) => findExpiredLeases(tx, 100),
  },
  {
    name: "findUnclaimedLaunches",
    indexes: ["jobs_launches", ...ofTheLine],
    run: (tx) => findUnclaimedLaunches(tx, 0, 100),
  },
  { name: "findAbandonedUploads", indexes: ["uploads_open"], run: (tx) => findAbandonedUploads(tx, 0, 100) },
  {
    name: "sumUploads",
    indexes: ["uploads_counted"],
    run: (tx, { waiting: { userId } }) => sumUploads(tx, userId),
  },
  { name: "takeDueDeletion", indexes: ["deletion_ledger_due"], run: (tx) => takeDueDeletion(tx, 600) },
  {
    name: "isStillNeeded",
    indexes: ["media_versions_prefix"],
    run: (tx) => isStillNeeded(tx, ledgerEntry),
  },
  {
    name: "claimJob",
    indexes: ["jobs_pkey", ...ofTheLine],
    run: (tx, { waiting: { job } }) =>
      claimJob(tx, {
        actionKey: job.actionKey,
        generation: 1,
        attemptId: randomUUID(),
        leaseSeconds: 90,
        machineId: null,
      }),
  },
  {
    name: "heartbeatJob",
    indexes: ["jobs_pkey", ...ofTheLine],
    run: (tx, { processing: { job } }) =>
      heartbeatJob(tx, {
        actionKey: job.actionKey,
        attemptId: job.beingProcessedBy!,
        leaseSeconds: 3600,
        progress: { ...progress, renditions: [] },
      }),
  },
  {
    name: "findMediaStatus, last in line",
    indexes: ofTheLine,
    run: (tx, { waiting }) => findMediaStatus(tx, waiting.job.actionKey),
  },
  {
    name: "findMediaStatus, processing",
    indexes: ["jobs_pkey"],
    run: (tx, { processing }) => findMediaStatus(tx, processing.job.actionKey),
  },
  {
    name: "findMediaStatus, completed",
    indexes: ["jobs_pkey"],
    run: (tx, { finishedKey }) => findMediaStatus(tx, finishedKey),
  },
  {
    name: "listJobs, active",
    indexes: ["jobs_unfinished"],
    run: (tx) => listJobs(tx, { filter: "active", cursor: null, limit: 51 }),
  },
  {
    name: "listJobs, failed",
    indexes: ["jobs_failed"],
    run: (tx) => listJobs(tx, { filter: "failed", cursor: null, limit: 51 }),
  },
  {
    name: "listJobs, ended",
    indexes: ["jobs_ended"],
    run: (tx) => listJobs(tx, { filter: "ended", cursor: null, limit: 51 }),
  },
  {
    name: "listJobs, ended, a later page",
    indexes: ["jobs_ended"],
    run: (tx, { finishedKey: id }) =>
      listJobs(tx, { filter: "ended", cursor: { at: new Date(Date.now() - weekMs), id }, limit: 51 }),
  },
  { name: "countWaiting", indexes: ofTheLine, run: (tx) => countWaiting(tx) },
  {
    name: "listProvisioningErrors",
    indexes: ["provisioning_errors_newest"],
    run: (tx) => listProvisioningErrors(tx, { seconds: weekMs / 1000, limit: 10 }),
  },
];
