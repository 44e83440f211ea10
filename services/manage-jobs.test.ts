import { randomUUID } from "node:crypto";
import type { Actor } from "@reelkeep/core/access/policy";
import { retryRequestSchema } from "@reelkeep/core/api/jobs";
import { AppError } from "@reelkeep/core/errors";
import { findAsset } from "@reelkeep/db/assets";
import { findAttempt, listAttempts } from "@reelkeep/db/job-attempts";
import { findJob } from "@reelkeep/db/jobs";
import { deletionLedger } from "@reelkeep/db/schema/deletion-ledger";
import { jobs } from "@reelkeep/db/schema/jobs";
import { outboxMessages } from "@reelkeep/db/schema/outbox-messages";
import { travel } from "@reelkeep/db/testing/clock";
import { type SeededJob, seedJob, seedUser } from "@reelkeep/db/testing/seed";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { completeUpload } from "./admit-upload.ts";
import { cancelJob } from "./cancel-job.ts";
import { claimJob } from "./claim-job.ts";
import { cleanStorage } from "./clean-storage.ts";
import { failAttempt } from "./fail-attempt.ts";
import { getMediaStatus } from "./get-media-status.ts";
import { heartbeat } from "./heartbeat.ts";
import { listJobs } from "./list-jobs.ts";
import { publishVersion } from "./publish-version.ts";
import { retryJob } from "./retry-job.ts";
import { setAssetState } from "./set-asset-state.ts";
import {
  createActor,
  createTestContext,
  sendFile,
  type TestContext,
  tinyMp4,
  uploadRequest,
  verifiedOutput,
} from "./testing/context.ts";

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let admin: Actor;
beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  admin = await createActor(context, "admin");
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
});
afterEach(() => travel(context.db, 0));

const progress = { stage: "encode" as const, fraction: 0.5, renditions: [], processByResolution: {} };
const ownerOf = (seeded: SeededJob): Actor => ({ userId: seeded.userId, role: "creator" });
const leaseOf = (seeded: SeededJob) => ({ actionKey: seeded.job.actionKey, attemptId: seeded.attempt!.id });
const messagesOf = async (actionKey: string) =>
  context.db.select().from(outboxMessages).where(eq(outboxMessages.actionKey, actionKey));
const code = (expected: string) => expect.objectContaining({ code: expected });
const text = { contentType: "application/vnd.apple.mpegurl" };
const failNow = (lease: { actionKey: string; attemptId: string }) =>
  failAttempt(context, lease, {
    error: new AppError("undecodable-video"),
    stage: "encode",
    completedRenditions: [],
  });

/** A video whose source really lies in storage and whose job has failed for good. */
async function failedVideo(): Promise<{ actor: Actor; actionKey: string; assetId: string }> {
  const actor = await createActor(context);
  const body = tinyMp4();
  const { actionKey, assetId } = await sendFile(context, actor, body, uploadRequest(body));
  await completeUpload(context, actor, actionKey);
  await claimAndFail(actionKey, 1);
  return { actor, actionKey, assetId };
}
async function claimAndFail(actionKey: string, generation: number): Promise<void> {
  const attemptId = randomUUID();
  await claimJob(context, { actionKey, generation, attemptId, workerId: randomUUID(), machineId: null });
  await failNow({ actionKey, attemptId });
}

describe("cancelling", () => {
  it("J10 a waiting job is cancelled at once, by its owner or an admin, and a second time changes nothing", async () => {
    const seeded = await seedJob(context.db);
    const { actionKey } = seeded.job;
    await cancelJob(context, ownerOf(seeded), actionKey);
    await cancelJob(context, admin, actionKey);
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: seeded.userId,
    });
    expect(await messagesOf(actionKey)).toMatchObject([
      { kind: "job-ended", payload: { state: "cancelled" } },
    ]);
  });

  it("J10 a job that is worked on is told at its next heartbeat, can't be published any more, and ends as cancelled", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const { actionKey } = seeded.job;
    await cancelJob(context, admin, actionKey);
    await cancelJob(context, ownerOf(seeded), actionKey);
    expect(await getMediaStatus(context, ownerOf(seeded), actionKey)).toMatchObject({
      status: "job-received",
      cancelRequested: true,
      cancelledBy: { kind: "person" },
    });
    expect(await heartbeat(context, { ...leaseOf(seeded), progress })).toBe("cancel");
    expect((await publishVersion(context, leaseOf(seeded), verifiedOutput)).outcome).toBe("cancelled");
    await failNow(leaseOf(seeded));
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: admin.userId,
    });
    expect(await getMediaStatus(context, admin, actionKey)).toMatchObject({
      cancelRequested: false,
      cancelledBy: { kind: "you" },
    });
  });

  it("J10 of a cancellation and a publication at once, one wins and the job tells which", async () => {
    for (let round = 0; round < 10; round++) {
      const seeded = await seedJob(context.db, "job-received");
      const [cancelled, published] = await Promise.allSettled([
        cancelJob(context, admin, seeded.job.actionKey),
        publishVersion(context, leaseOf(seeded), verifiedOutput),
      ]);
      const outcome = published.status === "fulfilled" ? published.value.outcome : published.reason;
      const job = await findJob(context.db, seeded.job.actionKey);
      if (outcome === "published")
        expect(job).toMatchObject({ state: "processing-completed", cancelRequestedAt: null });
      else {
        expect([outcome, cancelled.status]).toEqual(["cancelled", "fulfilled"]);
        expect(job).toMatchObject({ state: "job-received", cancelledBy: admin.userId });
      }
    }
  });

  it("J10 what ended otherwise can't be cancelled; for strangers there is nothing to cancel", async () => {
    for (const state of ["processing-completed", "failed"] as const) {
      const ended = await seedJob(context.db, state);
      await expect(cancelJob(context, admin, ended.job.actionKey)).rejects.toEqual(code("job-ended"));
    }
    const seeded = await seedJob(context.db);
    for (const role of ["creator", "viewer"] as const) {
      const stranger = await createActor(context, role);
      await expect(cancelJob(context, stranger, seeded.job.actionKey)).rejects.toEqual(code("not-found"));
    }
    await expect(cancelJob(context, admin, randomUUID())).rejects.toEqual(code("not-found"));
  });
});

describe("trying again", () => {
  it("J11 an admin's retry is a new generation with three more attempts and a new intent; numbers of attempts go on", async () => {
    const { actionKey } = await failedVideo();
    await retryJob(context, admin, { actionKey, generation: 1 });
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "file-processing-ready",
      generation: 2,
      attemptCount: 1,
      attemptLimit: 4,
      errorCode: null,
      endedAt: null,
    });
    const intents = (await messagesOf(actionKey)).filter(({ kind }) => kind === "launch-worker");
    expect(intents.map(({ generation }) => generation).sort()).toEqual([1, 2]);
    await claimAndFail(actionKey, 2);
    expect((await listAttempts(context.db, actionKey)).map(({ attemptNumber }) => attemptNumber)).toEqual([
      2, 1,
    ]);
  });

  it("J11 two clicks at once, or one repeated later, are one retry", async () => {
    const { actionKey } = await failedVideo();
    await Promise.all([1, 2, 3].map(() => retryJob(context, admin, { actionKey, generation: 1 })));
    await claimAndFail(actionKey, 2);
    await retryJob(context, admin, { actionKey, generation: 1 });
    expect(await findJob(context.db, actionKey)).toMatchObject({ state: "failed", generation: 2 });
  });

  it("J11 a worker of the old generation can't claim, and one that was at it writes nothing more", async () => {
    const { actionKey, actor } = await failedVideo();
    await retryJob(context, admin, { actionKey, generation: 1 });
    const old = { actionKey, attemptId: randomUUID(), workerId: randomUUID(), machineId: null };
    expect((await claimJob(context, { ...old, generation: 1 })).outcome).toBe("stale-generation");
    expect((await claimJob(context, { ...old, generation: 2 })).outcome).toBe("claimed");
    await cancelJob(context, actor, actionKey);
    await travel(context.db, 3600);
    await context.db.update(jobs).set({ cancelRequestedAt: null }).where(eq(jobs.actionKey, actionKey));
    expect((await publishVersion(context, old, verifiedOutput)).outcome).toBe("lease-lost");
    expect(await heartbeat(context, { ...old, progress })).toBe("superseded");
  });

  it("J11 a cancelled job is tried again without its former cancellation", async () => {
    const { actionKey } = await failedVideo();
    await retryJob(context, admin, { actionKey, generation: 1 });
    await cancelJob(context, admin, actionKey);
    await retryJob(context, admin, { actionKey, generation: 2 });
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "file-processing-ready",
      generation: 3,
      cancelRequestedAt: null,
      cancelledBy: null,
    });
  });

  it("J11 it is refused when the source is gone or was changed, with a code, and changes nothing", async () => {
    const gone = await failedVideo();
    const { sourceKey } = (await findJob(context.db, gone.actionKey))!;
    await context.store.remove([sourceKey]);
    await expect(retryJob(context, admin, { ...gone, generation: 1 })).rejects.toEqual(code("source-gone"));
    const changed = await failedVideo();
    await context.db.update(jobs).set({ sourceEtag: "other" }).where(eq(jobs.actionKey, changed.actionKey));
    await expect(retryJob(context, admin, { ...changed, generation: 1 })).rejects.toEqual(
      code("source-changed"),
    );
    for (const { actionKey } of [gone, changed])
      expect(await findJob(context.db, actionKey)).toMatchObject({ state: "failed", generation: 1 });
  });

  it("J11 it is refused while a newer file is published or on its way, and for what hasn't ended or was published", async () => {
    const { actionKey, assetId } = await failedVideo();
    const newer = await seedJob(context.db, "job-received", { assetId, sourceRevision: 2 });
    const again = () => retryJob(context, admin, { actionKey, generation: 1 });
    await expect(again()).rejects.toEqual(code("newer-file"));
    await publishVersion(context, leaseOf(newer), verifiedOutput);
    await expect(again()).rejects.toEqual(code("newer-file"));
    for (const [state, expected] of [
      ["file-processing-ready", "job-unfinished"],
      ["job-received", "job-unfinished"],
      ["processing-completed", "job-ended"],
    ] as const) {
      const { job } = await seedJob(context.db, state);
      const retry = retryJob(context, admin, { actionKey: job.actionKey, generation: 1 });
      await expect(retry).rejects.toEqual(code(expected));
    }
  });

  it("J11 a newer file that is tried again takes the place of an older one: of one video, one job is on its way", async () => {
    const older = await failedVideo();
    const newer = await seedJob(context.db, "failed", { assetId: older.assetId, sourceRevision: 2 });
    await context.store.putText(newer.job.sourceKey, "film", text);
    const { etag } = (await context.store.head(newer.job.sourceKey))!;
    await context.db.update(jobs).set({ sourceEtag: etag }).where(eq(jobs.actionKey, newer.job.actionKey));
    await retryJob(context, admin, { ...older, generation: 1 });
    const attempt = { attemptId: randomUUID(), workerId: randomUUID(), machineId: null };
    await claimJob(context, { actionKey: older.actionKey, generation: 2, ...attempt });
    await retryJob(context, admin, { actionKey: newer.job.actionKey, generation: 1 });
    expect(await findJob(context.db, older.actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: "superseded",
    });
    expect(await findAttempt(context.db, attempt.attemptId)).toMatchObject({ state: "superseded" });
    expect((await findJob(context.db, newer.job.actionKey))?.state).toBe("file-processing-ready");
  });

  it("J11 a generation that doesn't exist yet is refused, and one that no column holds isn't asked for", async () => {
    const { actionKey } = await failedVideo();
    await expect(retryJob(context, admin, { actionKey, generation: 2 })).rejects.toEqual(code("conflict"));
    expect(await findJob(context.db, actionKey)).toMatchObject({ state: "failed", generation: 1 });
    expect(retryRequestSchema.safeParse({ generation: 2 ** 31 }).success).toBe(false);
  });

  it("J11 only an admin may; an owner is told so, strangers are told nothing", async () => {
    const { actionKey, actor } = await failedVideo();
    const retry = (who: Actor) => retryJob(context, who, { actionKey, generation: 1 });
    await expect(retry(actor)).rejects.toEqual(code("forbidden"));
    await expect(retry(await createActor(context))).rejects.toEqual(code("not-found"));
  });
});

describe("blocking and deleting", () => {
  it("J10 deleting an asset cancels its jobs, and its objects are removed once the ledger gets to them", async () => {
    const actor = await createActor(context);
    const body = tinyMp4();
    const { actionKey, assetId } = await sendFile(context, actor, body, uploadRequest(body));
    await completeUpload(context, actor, actionKey);
    const attemptId = randomUUID();
    await claimJob(context, { actionKey, generation: 1, attemptId, workerId: randomUUID(), machineId: null });
    await setAssetState(context, actor, assetId, "delete");
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: "asset-deleted",
    });
    expect(await findAttempt(context.db, attemptId)).toMatchObject({ state: "superseded" });
    expect((await publishVersion(context, { actionKey, attemptId }, verifiedOutput)).outcome).toBe(
      "asset-deleted",
    );
    const { sourceKey } = (await findJob(context.db, actionKey))!;
    await cleanStorage(context);
    expect(await context.store.head(sourceKey)).not.toBeNull();
    await travel(context.db, 3601);
    await cleanStorage(context);
    expect(await context.store.head(sourceKey)).toBeNull();
    await expect(setAssetState(context, actor, assetId, "delete")).rejects.toEqual(code("not-found"));
  });

  it("J10 a published version of a deleted asset goes too; one of an asset that is there never does", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const other = await seedJob(context.db, "job-received", { userId: seeded.userId });
    for (const each of [seeded, other]) {
      await publishVersion(context, leaseOf(each), verifiedOutput);
      await context.store.putText(`${each.attempt!.outputPrefix}master.m3u8`, "#EXTM3U", text);
    }
    await setAssetState(context, ownerOf(seeded), seeded.assetId, "delete");
    await context.db.insert(deletionLedger).values({
      kind: "prefix",
      target: other.attempt!.outputPrefix,
      reason: "by mistake",
      dueAt: new Date(),
      createdAt: new Date(),
    });
    await travel(context.db, 3601);
    await cleanStorage(context);
    expect(await context.store.head(`${seeded.attempt!.outputPrefix}master.m3u8`)).toBeNull();
    expect(await context.store.head(`${other.attempt!.outputPrefix}master.m3u8`)).not.toBeNull();
  });

  it("P1 J10 an admin blocks an asset while it is processed: its job ends, nothing is published; allowed again, it can be tried again", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const { actionKey } = seeded.job;
    await expect(setAssetState(context, ownerOf(seeded), seeded.assetId, "block")).rejects.toEqual(
      code("forbidden"),
    );
    await setAssetState(context, admin, seeded.assetId, "block");
    await setAssetState(context, admin, seeded.assetId, "block");
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: "asset-blocked",
    });
    expect(await getMediaStatus(context, admin, actionKey)).toMatchObject({
      cancelledBy: { kind: "block", name: null },
    });
    expect(await heartbeat(context, { ...leaseOf(seeded), progress })).toBe("superseded");
    expect((await publishVersion(context, leaseOf(seeded), verifiedOutput)).outcome).toBe("asset-blocked");
    const again = () => retryJob(context, admin, { actionKey, generation: 1 });
    await expect(again()).rejects.toEqual(code("asset-blocked"));
    await setAssetState(context, admin, seeded.assetId, "unblock");
    expect((await findAsset(context.db, seeded.assetId))?.state).toBe("active");
    expect((await publishVersion(context, leaseOf(seeded), verifiedOutput)).outcome).toBe("lease-lost");
    await context.store.putText(seeded.job.sourceKey, "film", text);
    const { etag } = (await context.store.head(seeded.job.sourceKey))!;
    await context.db.update(jobs).set({ sourceEtag: etag }).where(eq(jobs.actionKey, actionKey));
    await again();
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "file-processing-ready",
      cancelledBy: null,
    });
  });
});

describe("the list of jobs", () => {
  it("X2 J8 shows admins who works on what, page by page and each job once", async () => {
    await context.db.execute("truncate jobs cascade");
    const userId = await seedUser(context.db);
    const keys: string[] = [];
    for (let i = 0; i < 60; i++)
      keys.push(
        (await seedJob(context.db, i === 0 ? "job-received" : "file-processing-ready", { userId })).job
          .actionKey,
      );
    await seedJob(context.db, "failed");
    const first = await listJobs(context, admin, { filter: "active" });
    expect(first.jobs[0]).toMatchObject({
      media: { actionKey: keys[0], status: "job-received" },
      worker: { attemptId: expect.any(String) },
      owner: { id: userId },
    });
    expect(first.jobs[1]).toMatchObject({
      media: { placeInLine: 1, status: "file-processing-ready" },
      worker: null,
    });
    expect(first.workers).toMatchObject({ waiting: 59, max: context.jobPolicy.workersMax });
    const rest = await listJobs(context, admin, { filter: "active", cursor: first.nextCursor! });
    expect([...first.jobs, ...rest.jobs].map(({ media }) => media.actionKey)).toEqual(keys);
    expect(rest.nextCursor).toBeNull();
  });

  it("X2 the failed ones come latest end first, none of a deleted video; nobody but admins sees the list", async () => {
    const older = await failedVideo();
    const younger = await failedVideo();
    const { jobs: failed } = await listJobs(context, admin, { filter: "failed" });
    expect(failed.slice(0, 2).map(({ media }) => media.actionKey)).toEqual([
      younger.actionKey,
      older.actionKey,
    ]);
    await setAssetState(context, younger.actor, younger.assetId, "delete");
    const { jobs: left } = await listJobs(context, admin, { filter: "failed" });
    expect(left[0]?.media.actionKey).toBe(older.actionKey);
    for (const role of ["creator", "viewer"] as const)
      await expect(listJobs(context, await createActor(context, role), { filter: "active" })).rejects.toEqual(
        code("forbidden"),
      );
  });

  it("J1 a worker that was started for a job that doesn't exist is recorded once and shown to admins", async () => {
    const missing = { actionKey: randomUUID(), generation: 1, workerId: randomUUID(), machineId: "i-1" };
    for (let times = 0; times < 2; times++)
      expect((await claimJob(context, { ...missing, attemptId: randomUUID() })).outcome).toBe("missing");
    const { provisioningErrors } = await listJobs(context, admin, { filter: "active" });
    expect(provisioningErrors.filter(({ actionKey }) => actionKey === missing.actionKey)).toMatchObject([
      { machineId: "i-1", code: "job-missing" },
    ]);
  });
});
