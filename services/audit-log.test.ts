/** What acts leave in the audit log. */
import { randomUUID } from "node:crypto";
import type { Actor } from "@reelkeep/core/access/policy";
import type { AssetMove } from "@reelkeep/core/asset/machine";
import type { JobState } from "@reelkeep/core/job/machine";
import { findAsset } from "@reelkeep/db/assets";
import { listAudits } from "@reelkeep/db/audits";
import { findJob } from "@reelkeep/db/jobs";
import { findReplacedVersion } from "@reelkeep/db/media-versions";
import { jobs } from "@reelkeep/db/schema/jobs";
import { stopClock, travel } from "@reelkeep/db/testing/clock";
import { type SeededJob, seedJob } from "@reelkeep/db/testing/seed";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { cancelJob } from "./cancel-job.ts";
import { publishVersion } from "./publish-version.ts";
import { retryJob } from "./retry-job.ts";
import { setAssetState } from "./set-asset-state.ts";
import { createActor, createTestContext, type TestContext, verifiedOutput } from "./testing/context.ts";

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

const ownerOf = ({ userId }: SeededJob): Actor => ({ userId, role: "creator" });
const code = (expected: string) => expect.objectContaining({ code: expected });
const rowsOf = ({ assetId }: SeededJob) => listAudits(context.db, assetId);
const move = (seeded: SeededJob, who: Actor, name: AssetMove) =>
  setAssetState(context, who, seeded.assetId, name);
const cancel = (seeded: SeededJob, who: Actor) => cancelJob(context, who, seeded.job.actionKey);
const retry = (seeded: SeededJob, who: Actor, generation = 1) =>
  retryJob(context, who, { actionKey: seeded.job.actionKey, generation });

/** A job in that state whose source lies in storage. */
async function seedWithSource(state: JobState): Promise<SeededJob> {
  const seeded = await seedJob(context.db, state);
  const { actionKey, sourceKey } = seeded.job;
  const { etag } = await context.store.putText(sourceKey, "film", { contentType: "video/mp4" });
  await context.db.update(jobs).set({ sourceEtag: etag }).where(eq(jobs.actionKey, actionKey));
  return seeded;
}

describe("the audit log", () => {
  it("X2 blocking, allowing again and deleting are each told once, with who and when, however often they are made", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const acts = [
      { action: "block", who: admin, at: new Date("2026-06-01T12:00:00Z") },
      { action: "unblock", who: admin, at: new Date("2026-06-01T12:00:01Z") },
      { action: "delete", who: ownerOf(seeded), at: new Date("2026-06-01T12:00:02Z") },
    ] as const;
    for (const { action, who, at } of acts) {
      await stopClock(context.db, at);
      await Promise.allSettled([1, 2].map(() => move(seeded, who, action)));
      await move(seeded, who, action).catch(() => {});
    }
    const nothing = { actionKey: null, beforeVersionId: null, afterVersionId: null };
    expect(await rowsOf(seeded)).toMatchObject(
      acts.map(({ action, who, at }) => ({ action, at, actorKind: "user", actorId: who.userId, ...nothing })),
    );
  });

  it.each(["file-processing-ready", "job-received"] as const)(
    "X2 J10 cancelling a job in %s is told once, with who did it first",
    async (state) => {
      const seeded = await seedJob(context.db, state);
      await cancel(seeded, ownerOf(seeded));
      await cancel(seeded, admin);
      expect(await rowsOf(seeded)).toMatchObject([
        {
          action: "cancel",
          actorKind: "user",
          actorId: seeded.userId,
          actionKey: seeded.job.actionKey,
          beforeVersionId: null,
          afterVersionId: null,
        },
      ]);
    },
  );

  it("X2 J11 trying again is told once for each generation, also when it is asked for twice at once", async () => {
    const seeded = await seedWithSource("failed");
    await Promise.all([1, 2].map(() => retry(seeded, admin)));
    await retry(seeded, admin);
    const row = { actorKind: "user", actorId: admin.userId, actionKey: seeded.job.actionKey };
    expect(await rowsOf(seeded)).toMatchObject([{ action: "retry", ...row }]);
    await travel(context.db, 60);
    await cancel(seeded, admin);
    await travel(context.db, 120);
    await retry(seeded, admin, 2);
    expect((await rowsOf(seeded)).map(({ action }) => action)).toEqual(["retry", "cancel", "retry"]);
  });

  it("X2 an act that is refused is not told", async () => {
    const ended = await seedJob(context.db, "processing-completed");
    const failed = await seedWithSource("failed");
    const stranger = await createActor(context);
    const refusals: readonly [() => Promise<void>, string][] = [
      [() => move(ended, ownerOf(ended), "block"), "forbidden"],
      [() => move(ended, stranger, "block"), "not-found"],
      [() => move(ended, stranger, "delete"), "not-found"],
      [() => cancel(ended, admin), "job-ended"],
      [() => cancel(ended, stranger), "not-found"],
      [() => retry(ended, admin), "job-ended"],
      [() => retry(failed, ownerOf(failed)), "forbidden"],
      [() => retry(failed, admin, 2), "conflict"],
    ];
    for (const [act, refusal] of refusals) await expect(act()).rejects.toEqual(code(refusal));
    await context.store.remove([failed.job.sourceKey]);
    await expect(retry(failed, admin)).rejects.toEqual(code("source-gone"));
    expect([...(await rowsOf(ended)), ...(await rowsOf(failed))]).toEqual([]);
  });

  it("X2 an act that can't be told isn't done", async () => {
    const waiting = await seedJob(context.db);
    const running = await seedJob(context.db, "job-received");
    const failed = await seedWithSource("failed");
    const refuse = `no_more_${randomUUID().replaceAll("-", "")}`;
    await context.db.execute(
      `alter table publication_audits add constraint ${refuse} check (false) not valid`,
    );
    const acts = [
      move(waiting, admin, "block"),
      move(waiting, admin, "delete"),
      cancel(waiting, admin),
      cancel(running, admin),
      retry(failed, admin),
    ];
    const outcomes = await Promise.allSettled(acts);
    await context.db.execute(`alter table publication_audits drop constraint ${refuse}`);
    expect(outcomes.map(({ status }) => status)).toEqual(acts.map(() => "rejected"));
    expect((await findAsset(context.db, waiting.assetId))?.state).toBe("active");
    for (const { job } of [waiting, running, failed]) {
      const { state, generation, cancelRequestedAt, cancelledBy } = job;
      expect(await findJob(context.db, job.actionKey)).toMatchObject({
        state,
        generation,
        cancelRequestedAt,
        cancelledBy,
      });
    }
  });

  it("X2 J10 a cancellation and a block at once wait for each other and never both for ever", async () => {
    for (let round = 0; round < 10; round++) {
      const seeded = await seedJob(context.db, round % 2 ? "job-received" : "file-processing-ready");
      await Promise.all([
        cancel(seeded, ownerOf(seeded)),
        move(seeded, admin, "block"),
        cancel(seeded, admin),
      ]);
      const told = (await rowsOf(seeded)).map(({ action }) => action);
      expect(told.filter((action) => action === "block")).toHaveLength(1);
      expect(told.filter((action) => action === "cancel").length).toBeLessThanOrEqual(1);
      expect((await findJob(context.db, seeded.job.actionKey))?.state).toBe("cancelled");
    }
  });

  it("P2 a version whose video was blocked and allowed again isn't taken for one that was replaced", async () => {
    const seeded = await seedJob(context.db, "job-received");
    const lease = { actionKey: seeded.job.actionKey, attemptId: seeded.attempt!.id };
    const published = await publishVersion(context, lease, verifiedOutput);
    if (published.outcome !== "published") throw new Error(published.outcome);
    await move(seeded, admin, "block");
    await move(seeded, admin, "unblock");
    const { assetId } = seeded;
    const replaced = { assetId, versionId: published.version.id, withinSeconds: 3600 };
    expect(await findReplacedVersion(context.db, replaced)).toBeNull();
  });
});
