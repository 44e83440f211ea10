import { randomUUID } from "node:crypto";
import type { Actor } from "@reelkeep/core/access/policy";
import { AppError } from "@reelkeep/core/errors";
import { findAsset } from "@reelkeep/db/assets";
import { listAudits } from "@reelkeep/db/audits";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { findJob } from "@reelkeep/db/jobs";
import { assets } from "@reelkeep/db/schema/assets";
import { deletionLedger } from "@reelkeep/db/schema/deletion-ledger";
import { jobs } from "@reelkeep/db/schema/jobs";
import { mediaVersions } from "@reelkeep/db/schema/media-versions";
import { outboxMessages } from "@reelkeep/db/schema/outbox-messages";
import { travel } from "@reelkeep/db/testing/clock";
import { type SeededJob, seedJob } from "@reelkeep/db/testing/seed";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { claimJob } from "./claim-job.ts";
import { cleanStorage } from "./clean-storage.ts";
import { failAttempt, handBackAttempt } from "./fail-attempt.ts";
import { grantPlayback } from "./grant-playback.ts";
import { heartbeat } from "./heartbeat.ts";
import { publishVersion } from "./publish-version.ts";
import { createTestContext, type TestContext, verifiedOutput } from "./testing/context.ts";

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;

beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
});
afterEach(() => travel(context.db, 0));

const claimOf = (seeded: SeededJob, generation = 1) => ({
  actionKey: seeded.job.actionKey,
  generation,
  attemptId: randomUUID(),
  workerId: randomUUID(),
  machineId: null,
});

const progress = { stage: "encode" as const, fraction: 0.5, renditions: [], processByResolution: {} };
const leaseOf = (seeded: SeededJob) => ({ actionKey: seeded.job.actionKey, attemptId: seeded.attempt!.id });

describe("claim", () => {
  it("J1 of twenty workers that claim at once, one wins and the others learn that it is held", async () => {
    const seeded = await seedJob(context.db);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => claimJob(context, claimOf(seeded))));
    expect(outcomes.filter(({ outcome }) => outcome === "claimed")).toHaveLength(1);
    expect(outcomes.filter(({ outcome }) => outcome === "held")).toHaveLength(19);
    expect(await findJob(context.db, seeded.job.actionKey)).toMatchObject({
      state: "job-received",
      attemptCount: 1,
    });
    expect(await listAttempts(context.db, seeded.job.actionKey)).toHaveLength(1);
  });

  it("J1 a claim that is lost says why", async () => {
    const why = async (state: Parameters<typeof seedJob>[1], generation = 1) =>
      (await claimJob(context, claimOf(await seedJob(context.db, state), generation))).outcome;
    expect(await why("processing-completed")).toBe("finished");
    expect(await why("failed")).toBe("failed");
    expect(await why("cancelled")).toBe("cancelled");
    expect(await why("job-received")).toBe("held");
    expect(await why("file-processing-ready", 2)).toBe("stale-generation");
    const missing = { ...claimOf(await seedJob(context.db)), actionKey: randomUUID() };
    expect((await claimJob(context, missing)).outcome).toBe("missing");
  });

  it("J2 a worker that lost the answer to its claim asks again and has it", async () => {
    const seeded = await seedJob(context.db);
    const claim = claimOf(seeded);
    const first = await claimJob(context, claim);
    const again = await claimJob(context, claim);
    expect(again.outcome).toBe("claimed");
    expect(again).toMatchObject({ attempt: { id: claim.attemptId, attemptNumber: 1 } });
    expect(first).toMatchObject({ attempt: { outputPrefix: expect.stringMatching(/attempt-1\/$/) } });
    expect((await findJob(context.db, seeded.job.actionKey))?.attemptCount).toBe(1);
  });

  it("J2 a worker that asks again after its attempt has ended takes nothing, and is told so", async () => {
    const seeded = await seedJob(context.db);
    const claim = claimOf(seeded);
    await claimJob(context, claim);
    await handBackAttempt(context, { actionKey: claim.actionKey, attemptId: claim.attemptId });
    expect(await claimJob(context, claim)).toEqual({ outcome: "attempt-ended" });
    expect(await findJob(context.db, seeded.job.actionKey)).toMatchObject({
      state: "file-processing-ready",
      attemptCount: 1,
    });
  });
});

describe("heartbeat", () => {
  it("J3 extends the lease, carries progress and says to go on", async () => {
    const seeded = await seedJob(context.db, "job-received", { leaseSeconds: 1 });
    expect(await heartbeat(context, { ...leaseOf(seeded), progress })).toBe("continue");
    const job = await findJob(context.db, seeded.job.actionKey);
    expect(job).toMatchObject({ progressFraction: 0.5, stage: "encode" });
    expect(job!.leaseExpiryTime!.getTime()).toBeGreaterThan(seeded.job.leaseExpiryTime!.getTime());
  });

  it("J3 tells a worker to cancel, and one that lost its lease that it is superseded", async () => {
    const cancelled = await seedJob(context.db, "job-received");
    await context.db
      .update(jobs)
      .set({ cancelRequestedAt: new Date() })
      .where(eq(jobs.actionKey, cancelled.job.actionKey));
    expect(await heartbeat(context, { ...leaseOf(cancelled), progress })).toBe("cancel");
    const lost = await seedJob(context.db, "job-received", { leaseSeconds: -1 });
    expect(await heartbeat(context, { ...leaseOf(lost), progress })).toBe("superseded");
  });
});

describe("failure", () => {
  const encoderFailure = {
    error: new AppError("encoder-failed"),
    stage: "encode" as const,
    completedRenditions: [],
  };

  it("J5 a failure worth another try backs off, three times, then the job fails with its code", async () => {
    const seeded = await seedJob(context.db);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt++) {
      const claim = claimOf(seeded);
      expect((await claimJob(context, claim)).outcome).toBe("claimed");
      const failure = {
        error: new AppError("encoder-failed"),
        stage: "encode" as const,
        completedRenditions: ["240p"],
      };
      const became = await failAttempt(context, claim, failure);
      expect(became).toBe(attempt < 3 ? "retry-later" : "failed");
      const job = await findJob(context.db, seeded.job.actionKey);
      if (attempt < 3) {
        expect(job).toMatchObject({ state: "file-processing-ready", waitingReason: "retry-backoff" });
        waits.push(Math.round((job!.retryAt!.getTime() - job!.updatedAt.getTime()) / 1000));
      } else expect(job).toMatchObject({ state: "failed", errorCode: "encoder-failed", attemptCount: 3 });
    }
    expect(waits).toEqual([20, 40]);
    const messages = await context.db
      .select()
      .from(outboxMessages)
      .where(eq(outboxMessages.actionKey, seeded.job.actionKey));
    expect(messages.map(({ kind }) => kind).sort()).toEqual(["job-ended", "launch-worker", "launch-worker"]);
    const attempts = await listAttempts(context.db, seeded.job.actionKey);
    expect(attempts.map(({ state, errorCode, stage }) => [state, errorCode, stage])).toEqual(
      Array(3).fill(["failed", "encoder-failed", "encode"]),
    );
    expect(new Set(attempts.map(({ outputPrefix }) => outputPrefix)).size).toBe(3);
  });

  it("J4 J5 leases handed back don't make the next wait longer", async () => {
    const seeded = await seedJob(context.db);
    for (let turn = 1; turn <= 3; turn++) {
      const claim = claimOf(seeded);
      await claimJob(context, claim);
      expect(await handBackAttempt(context, claim)).toBe(true);
    }
    const claim = claimOf(seeded);
    await claimJob(context, claim);
    await failAttempt(context, claim, encoderFailure);
    const job = await findJob(context.db, seeded.job.actionKey);
    expect(Math.round((job!.retryAt!.getTime() - job!.updatedAt.getTime()) / 1000)).toBe(20);
  });

  it("J5 a permanent failure ends the job at once", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const failure = {
      error: new AppError("undecodable-video"),
      stage: "probe" as const,
      completedRenditions: [],
    };
    expect(await failAttempt(context, leaseOf(seeded), failure)).toBe("failed");
    expect(await findJob(context.db, seeded.job.actionKey)).toMatchObject({
      state: "failed",
      errorCode: "undecodable-video",
    });
  });

  it("J5 a worker without the lease records nothing", async () => {
    const seeded = await seedJob(context.db, "job-received", { leaseSeconds: -1 });
    const failure = {
      error: new AppError("encoder-failed"),
      stage: "encode" as const,
      completedRenditions: [],
    };
    expect(await failAttempt(context, leaseOf(seeded), failure)).toBe("lease-lost");
    expect((await findJob(context.db, seeded.job.actionKey))?.state).toBe("job-received");
  });

  it("J4 a lease handed back costs no attempt", async () => {
    const seeded = await seedJob(context.db, "job-received");
    expect(await handBackAttempt(context, leaseOf(seeded))).toBe(true);
    expect(await findJob(context.db, seeded.job.actionKey)).toMatchObject({
      state: "file-processing-ready",
      attemptCount: 1,
      attemptLimit: 4,
    });
  });

  it("J5 the ledger removes an attempt's output an hour after its end, never a published one", async () => {
    const failed = await seedJob(context.db, "job-received");
    const published = await seedJob(context.db, "job-received");
    const text = { contentType: "text/plain" };
    for (const { attempt } of [failed, published])
      await context.store.putText(`${attempt!.outputPrefix}a.ts`, "x", text);
    const failure = {
      error: new AppError("encoder-failed"),
      stage: "encode" as const,
      completedRenditions: [],
    };
    await failAttempt(context, leaseOf(failed), failure);
    expect((await publishVersion(context, leaseOf(published), verifiedOutput)).outcome).toBe("published");
    // A mistaken entry for a version's prefix, or for one above it, is dropped, not carried out.
    await context.db.insert(deletionLedger).values({
      kind: "prefix",
      target: published.attempt!.outputPrefix.replace("attempt-1/", ""),
      reason: "mistake",
      dueAt: new Date(0),
      createdAt: new Date(),
    });
    const exists = async ({ attempt }: SeededJob) =>
      (await context.store.head(`${attempt!.outputPrefix}a.ts`)) !== null;
    await cleanStorage(context);
    expect([await exists(failed), await exists(published)]).toEqual([true, true]);
    await travel(context.db, 3700);
    await cleanStorage(context);
    expect([await exists(failed), await exists(published)]).toEqual([false, true]);
    // The orphan writes late; the second look, a day later, finds it.
    await context.store.putText(`${failed.attempt!.outputPrefix}late.ts`, "x", text);
    await travel(context.db, 3700 + 24 * 3600 + 60);
    await cleanStorage(context);
    expect(await context.store.head(`${failed.attempt!.outputPrefix}late.ts`)).toBeNull();
  });
});

describe("cancellation", () => {
  const failure = (code: "encoder-failed" | "undecodable-video") => ({
    error: new AppError(code),
    stage: "encode" as const,
    completedRenditions: [],
  });
  const requested = async () => {
    const seeded = await seedJob(context.db, "job-received");
    await requestCancel(seeded);
    return seeded;
  };
  const requestCancel = ({ job }: SeededJob) =>
    context.db.update(jobs).set({ cancelRequestedAt: new Date() }).where(eq(jobs.actionKey, job.actionKey));

  it.each([
    [
      "fails and could be tried again",
      (s: SeededJob) => failAttempt(context, leaseOf(s), failure("encoder-failed")),
    ],
    ["fails for good", (s: SeededJob) => failAttempt(context, leaseOf(s), failure("undecodable-video"))],
    ["is handed back", (s: SeededJob) => handBackAttempt(context, leaseOf(s))],
  ] as const)("J10 a cancellation that was requested is obeyed when the attempt %s", async (_what, end) => {
    const seeded = await requested();
    expect(await end(seeded)).not.toBe("lease-lost");
    expect(await findJob(context.db, seeded.job.actionKey)).toMatchObject({
      state: "cancelled",
      errorCode: null,
    });
    expect(await listAttempts(context.db, seeded.job.actionKey)).toMatchObject([{ state: "cancelled" }]);
    const messages = await context.db
      .select()
      .from(outboxMessages)
      .where(eq(outboxMessages.actionKey, seeded.job.actionKey));
    expect(messages).toMatchObject([{ kind: "job-ended", payload: { state: "cancelled" } }]);
  });

  it("J10 a worker without the lease cancels nothing", async () => {
    const seeded = await seedJob(context.db, "job-received", { leaseSeconds: -1 });
    await requestCancel(seeded);
    expect(await failAttempt(context, leaseOf(seeded), failure("encoder-failed"))).toBe("lease-lost");
    expect(await handBackAttempt(context, leaseOf(seeded))).toBe(false);
  });

  it("J10 a waiting job whose cancellation was requested can't be claimed: the claim cancels it", async () => {
    const seeded = await seedJob(context.db);
    await requestCancel(seeded);
    expect((await claimJob(context, claimOf(seeded))).outcome).toBe("cancelled");
    expect((await findJob(context.db, seeded.job.actionKey))?.state).toBe("cancelled");
  });
});

describe("publication", () => {
  it("P1 version, pointer, job, attempt, audit and event are written together", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const outcome = await publishVersion(context, leaseOf(seeded), verifiedOutput);
    if (outcome.outcome !== "published") throw new Error(outcome.outcome);
    expect(outcome.version).toMatchObject({ versionNumber: 1, prefix: seeded.attempt!.outputPrefix });
    expect((await findAsset(context.db, seeded.assetId))?.activeVersionId).toBe(outcome.version.id);
    expect(await findJob(context.db, seeded.job.actionKey)).toMatchObject({
      state: "processing-completed",
      beingProcessedBy: null,
    });
    expect(await listAttempts(context.db, seeded.job.actionKey)).toMatchObject([{ state: "succeeded" }]);
    expect(await listAudits(context.db, seeded.assetId)).toMatchObject([
      { action: "publish", actorKind: "worker", beforeVersionId: null, afterVersionId: outcome.version.id },
    ]);
    const events = await context.db
      .select()
      .from(outboxMessages)
      .where(eq(outboxMessages.actionKey, seeded.job.actionKey));
    expect(events).toMatchObject([{ kind: "job-ended", payload: { state: "processing-completed" } }]);
  });

  it("J2 P1 publishing again from the same attempt, at once or later, is the same version", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const publish = () => publishVersion(context, leaseOf(seeded), verifiedOutput);
    const outcomes = [...(await Promise.all([publish(), publish(), publish()])), await publish()];
    const ids = outcomes.map((outcome) => outcome.outcome === "published" && outcome.version.id);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toBeTruthy();
    const versions = await context.db
      .select()
      .from(mediaVersions)
      .where(eq(mediaVersions.assetId, seeded.assetId));
    expect(versions).toHaveLength(1);
  });

  it.each([
    ["a lost lease", "lease-lost", (_: SeededJob): Promise<unknown> => travel(context.db, 61)],
    [
      "a stale generation",
      "lease-lost",
      (s: SeededJob) =>
        context.db.update(jobs).set({ generation: 2 }).where(eq(jobs.actionKey, s.job.actionKey)),
    ],
    [
      "a requested cancellation",
      "cancelled",
      (s: SeededJob) =>
        context.db
          .update(jobs)
          .set({ cancelRequestedAt: new Date() })
          .where(eq(jobs.actionKey, s.job.actionKey)),
    ],
    [
      "a blocked asset",
      "asset-blocked",
      (s: SeededJob) => context.db.update(assets).set({ state: "blocked" }).where(eq(assets.id, s.assetId)),
    ],
    [
      "a deleted asset",
      "asset-deleted",
      (s: SeededJob) => context.db.update(assets).set({ state: "deleted" }).where(eq(assets.id, s.assetId)),
    ],
    [
      "a newer unfinished revision",
      "superseded",
      (s: SeededJob) => seedJob(context.db, "file-processing-ready", { ...s, sourceRevision: 2 }),
    ],
    [
      "a newer published revision",
      "superseded",
      (s: SeededJob) => seedJob(context.db, "processing-completed", { ...s, sourceRevision: 2 }),
    ],
  ] as const)("P1 %s refuses publication and changes nothing", async (_what, refusal, disturb) => {
    const seeded = await seedJob(context.db, "job-received");
    await disturb(seeded);
    expect((await publishVersion(context, leaseOf(seeded), verifiedOutput)).outcome).toBe(refusal);
    expect((await findAsset(context.db, seeded.assetId))?.activeVersionId).toBeNull();
    expect((await findJob(context.db, seeded.job.actionKey))?.state).toBe("job-received");
  });

  it("P2 a replacement that fails changes nothing of what is published: it plays on", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const actor: Actor = { userId: seeded.userId, role: "creator" };
    const grant = async () => (await grantPlayback(context, actor, seeded.assetId, {})).grant;
    await publishVersion(context, leaseOf(seeded), verifiedOutput);
    const before = await grant();
    const next = await seedJob(context.db, "job-received", { ...seeded, sourceRevision: 2 });
    const error = new AppError("undecodable-video");
    await failAttempt(context, leaseOf(next), { error, stage: "encode", completedRenditions: [] });
    await travel(context.db, 3601);
    await cleanStorage(context);
    expect(await grant()).toMatchObject({ versionId: before.versionId, manifestUrl: before.manifestUrl });
    expect(await findAsset(context.db, seeded.assetId)).toMatchObject({ versionCount: 1 });
  });

  it("D2 a version that was replaced renews for a day, for whoever names it; everybody else gets the new one", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const actor: Actor = { userId: seeded.userId, role: "creator" };
    const grant = async (versionId?: string) =>
      (await grantPlayback(context, actor, seeded.assetId, { versionId })).grant;
    await publishVersion(context, leaseOf(seeded), verifiedOutput);
    const first = await grant();
    const next = await seedJob(context.db, "job-received", { ...seeded, sourceRevision: 2 });
    await publishVersion(context, leaseOf(next), verifiedOutput);

    const renewed = await grantPlayback(context, actor, seeded.assetId, { versionId: first.versionId });
    expect(renewed.grant).toMatchObject({ versionId: first.versionId, manifestUrl: first.manifestUrl });
    expect(new URL(first.manifestUrl).pathname.startsWith(renewed.cookies[0]!.path)).toBe(true);
    const second = await grant();
    expect(second).toMatchObject({ versionNumber: 2 });
    expect(await grant(second.versionId)).toMatchObject({ versionNumber: 2 });

    const other = await seedJob(context.db, "job-received");
    await publishVersion(context, leaseOf(other), verifiedOutput);
    const foreign = (await findAsset(context.db, other.assetId))!.activeVersionId!;
    expect(await grant(foreign)).toMatchObject({ versionNumber: 2 });
    await travel(context.db, 24 * 3600 + 1);
    expect(await grant(first.versionId)).toMatchObject({ versionNumber: 2 });
  });
});
