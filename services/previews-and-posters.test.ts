/** M10, M11: who may watch what is still being made, and who chooses the picture that stands for a video. */
import { randomUUID } from "node:crypto";
import type { Actor } from "@reelkeep/core/access/policy";
import type { RenditionProgress } from "@reelkeep/core/api/media";
import { listAudits } from "@reelkeep/db/audits";
import { seedJob } from "@reelkeep/db/testing/seed";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { choosePoster } from "./choose-poster.ts";
import { grantPlayback } from "./grant-playback.ts";
import { grantPreview } from "./grant-preview.ts";
import { heartbeat } from "./heartbeat.ts";
import { acceptInvitation, inviteViewer } from "./invite-people.ts";
import { getAsset } from "./list-library.ts";
import { publishVersion } from "./publish-version.ts";
import { setAssetState } from "./set-asset-state.ts";
import { createActor, createTestContext, type TestContext, verifiedOutput } from "./testing/context.ts";

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let admin: Actor;
let stranger: Actor;
beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  admin = await createActor(context, "admin");
  stranger = await createActor(context);
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
});

const smallest = (fraction: number): RenditionProgress[] => [
  { name: "240p", width: 426, height: 240, fraction, complete: false },
];

/** A job that a worker holds, whose smallest rendition is so far. */
async function running(fraction: number) {
  const seeded = await seedJob(context.db, "job-received");
  const lease = { actionKey: seeded.job.actionKey, attemptId: seeded.attempt!.id };
  const progress = {
    stage: "encode",
    fraction: 0.3,
    renditions: smallest(fraction),
    processByResolution: {},
  } as const;
  await heartbeat(context, { ...lease, progress });
  const owner: Actor = { userId: seeded.userId, role: "creator" };
  return { seeded, lease, owner, actionKey: seeded.job.actionKey };
}

describe("a preview", () => {
  it("M10 is granted to the owner and to admins, for exactly the running attempt's prefix", async () => {
    const { seeded, owner, actionKey } = await running(0.1);
    for (const actor of [owner, admin]) {
      const { grant, cookies } = await grantPreview(context, actor, actionKey);
      expect(grant.manifestUrl).toBe(`http://localhost:3001/${seeded.attempt!.outputPrefix}preview.m3u8`);
      expect(grant.attemptNumber).toBe(seeded.attempt!.attemptNumber);
      expect(cookies.length).toBeGreaterThan(0);
      for (const { path } of cookies) expect(path).toBe(`/${seeded.attempt!.outputPrefix}`);
    }
  });

  it("M10 doesn't exist for anybody else, nor before there is something to see", async () => {
    const { owner, actionKey } = await running(0.1);
    await expect(grantPreview(context, stranger, actionKey)).rejects.toMatchObject({ code: "not-found" });
    const early = await running(0);
    await expect(grantPreview(context, early.owner, early.actionKey)).rejects.toMatchObject({
      code: "not-found",
    });
    await expect(grantPreview(context, owner, randomUUID())).rejects.toMatchObject({ code: "not-found" });
  });

  it("M10 ends when its job does, and when its video is blocked", async () => {
    const done = await running(0.5);
    await publishVersion(context, done.lease, verifiedOutput);
    const blocked = await running(0.5);
    await setAssetState(context, admin, blocked.seeded.job.assetId, "block");
    for (const { owner, actionKey } of [done, blocked])
      await expect(grantPreview(context, owner, actionKey)).rejects.toMatchObject({ code: "not-found" });
  });
});

/** A published video with two suggestions. */
async function published() {
  const { seeded, lease, owner } = await running(1);
  const outcome = await publishVersion(context, lease, verifiedOutput);
  if (outcome.outcome !== "published") throw new Error(outcome.outcome);
  return { owner, assetId: seeded.job.assetId, versionId: outcome.version.id };
}
const nameOf = (url: string | null) => /poster-\d\.jpg/.exec(url ?? "")?.[0];

describe("a poster", () => {
  it("M11 is the first suggestion until somebody chooses, then theirs, in the library and the player", async () => {
    const { owner, assetId, versionId } = await published();
    const before = await getAsset(context, owner, assetId);
    expect(nameOf(before.posterUrl)).toBe("poster-1.jpg");
    expect(before.posters.map(({ name, url, isShown }) => [name, nameOf(url), isShown])).toEqual([
      ["poster-1.jpg", "poster-1.jpg", true],
      ["poster-2.jpg", "poster-2.jpg", false],
    ]);
    for (let i = 0; i < 2; i++)
      await choosePoster(context, owner, assetId, { versionId, name: "poster-2.jpg" });
    const after = await getAsset(context, owner, assetId);
    expect(nameOf(after.posterUrl)).toBe("poster-2.jpg");
    expect(after.posters.map(({ isShown }) => isShown)).toEqual([false, true]);
    expect(nameOf((await grantPlayback(context, owner, assetId)).grant.posterUrl)).toBe("poster-2.jpg");
    const acts = (await listAudits(context.db, assetId)).filter(({ action }) => action === "choose-poster");
    expect(acts).toMatchObject([{ actorKind: "user", actorId: owner.userId, afterVersionId: versionId }]);
  });

  it("M11 is chosen by whoever may edit, and is suggested to nobody else", async () => {
    const { owner, assetId, versionId } = await published();
    const choice = { versionId, name: "poster-2.jpg" };
    await expect(choosePoster(context, stranger, assetId, choice)).rejects.toMatchObject({
      code: "not-found",
    });
    const viewer = await createActor(context, "viewer");
    const account = {
      id: viewer.userId,
      role: viewer.role,
      name: "A viewer",
      email: `${viewer.userId}@example.com`,
    };
    const { url } = await inviteViewer(context, owner, assetId, {});
    const noSignUp = () => Promise.reject(new Error("nobody signs up here"));
    await acceptInvitation(context, { token: url.slice(url.lastIndexOf("/") + 1) }, account, noSignUp);
    await expect(choosePoster(context, viewer, assetId, choice)).rejects.toMatchObject({ code: "forbidden" });
    expect((await getAsset(context, viewer, assetId)).posters).toEqual([]);
    await choosePoster(context, admin, assetId, choice);
    expect(nameOf((await getAsset(context, owner, assetId)).posterUrl)).toBe("poster-2.jpg");
  });

  it("M11 is one of the suggestions of the version that plays", async () => {
    const { owner, assetId, versionId } = await published();
    for (const name of ["poster-9.jpg", "../../x/attempt-1/poster-1.jpg", "master.m3u8"])
      await expect(choosePoster(context, owner, assetId, { versionId, name })).rejects.toMatchObject({
        code: "invalid-request",
      });
    const other = { versionId: randomUUID(), name: "poster-2.jpg" };
    await expect(choosePoster(context, owner, assetId, other)).rejects.toMatchObject({ code: "conflict" });
  });
});
