import type { Actor } from "@reelkeep/core/access/policy";
import { findAsset } from "@reelkeep/db/assets";
import { findJob } from "@reelkeep/db/jobs";
import { travel } from "@reelkeep/db/testing/clock";
import { cancelJob } from "@reelkeep/services/cancel-job";
import { retryJob } from "@reelkeep/services/retry-job";
import { setAssetState } from "@reelkeep/services/set-asset-state";
import { createActor } from "@reelkeep/services/testing/context";
import { afterEach, beforeAll, expect, it } from "vitest";
import { expectIntact, expectSettled, waitForJob } from "./kit/invariants.ts";
import { findWorker } from "./kit/processes.ts";
import { startFaultStackForFile } from "./kit/stack.ts";
import { beforeClaim, beforeDownload, beforePublish, uploading, verifying } from "./kit/stops.ts";
import { bringVideo, longClip } from "./kit/uploads.ts";

// Two workers: an orphan keeps its place while its successor works; and nobody ends it for being idle.
const stack = startFaultStackForFile({
  settings: { LEASE_SECONDS: "6", WORKERS_MAX: "2", IDLE_WORKER_SECONDS: "600" },
});
let admin: Actor;
beforeAll(async () => {
  admin = await createActor(stack().site, "admin");
});
afterEach(() => travel(stack().db, 0));

const cancel = (actionKey: string) => cancelJob(stack().site, stack().site.creator, actionKey);

it("J10 a job cancelled while it waits ends at once and never has a worker", {
  tags: ["short"],
}, async () => {
  await stack().schedule.pause();
  const { actionKey } = await bringVideo(stack());
  await cancel(actionKey);
  stack().schedule.resume();

  await expectSettled(stack(), actionKey, { state: "cancelled", attempts: 0 });
});

it("J10 a job cancelled while its worker is about to claim ends without an attempt, and the worker leaves", async () => {
  const stop = beforeClaim(stack());
  const { actionKey } = await bringVideo(stack());
  await stop.caught();
  await cancel(actionKey);
  stop.release();

  await expectSettled(stack(), actionKey, { state: "cancelled", attempts: 0 });
});

it.each([
  { when: "downloads", stopAt: beforeDownload },
  { when: "uploads", stopAt: uploading },
  { when: "verifies", stopAt: verifying },
  { when: "is about to publish", stopAt: beforePublish },
])(
  "J10 a job cancelled while its worker $when is never published, and its output goes",
  async ({ stopAt }) => {
    const stop = stopAt(stack());
    const { actionKey, assetId } = await bringVideo(stack());
    await stop.caught();
    await cancel(actionKey);
    stop.release();

    await expectSettled(stack(), actionKey, {
      state: "cancelled",
      attempts: 1,
      attemptStates: ["cancelled"],
    });
    expect((await findAsset(stack().db, assetId))?.activeVersionId).toBeNull();
    await travel(stack().db, 3700);
    await stack().control.cleanStorage();
    const left: string[] = [];
    for await (const { key } of stack().store.list(`processed/${stack().site.creator.userId}/${actionKey}/`))
      left.push(key);
    expect(left).toEqual([]);
  },
);

it("J3 J10 a worker that encodes is told to cancel at its next heartbeat, ends FFmpeg and leaves", async () => {
  const { actionKey } = await bringVideo(stack(), { clip: longClip() });
  const worker = await findWorker(actionKey);
  const encoder = await worker.untilEncoding();
  process.kill(encoder, "SIGSTOP");
  await cancel(actionKey);

  await expectSettled(stack(), actionKey, { state: "cancelled", attempts: 1, attemptStates: ["cancelled"] });
  expect(worker.encoderPids()).toEqual([]);
});

it("J10 J6 a job whose worker dies after it was asked to cancel ends as cancelled, not as lost", async () => {
  const stop = uploading(stack());
  const { actionKey } = await bringVideo(stack());
  await stop.caught();
  const worker = await findWorker(actionKey);
  worker.freeze();
  await cancel(actionKey);
  await worker.kill();
  stop.cut();

  await expectSettled(stack(), actionKey, {
    state: "cancelled",
    attempts: 1,
    attemptStates: ["lease-expired"],
  });
});

it("J11 a retry while a worker of the old generation still runs: the new one publishes, the old one changes nothing", async () => {
  const stop = uploading(stack());
  const { actionKey, assetId } = await bringVideo(stack());
  await stop.caught();
  const old = await findWorker(actionKey);
  old.freeze();
  await cancel(actionKey);
  stop.release();
  await waitForJob(stack(), actionKey, ({ state }) => state === "cancelled");
  await retryJob(stack().site, admin, { actionKey, generation: 1 });
  await waitForJob(stack(), actionKey, ({ state }) => state === "processing-completed");
  const published = (await findAsset(stack().db, assetId))?.activeVersionId;
  old.thaw();

  const job = await expectSettled(stack(), actionKey, {
    state: "processing-completed",
    attempts: 2,
    attemptStates: ["lease-expired", "succeeded"],
  });
  expect(job.generation).toBe(2);
  expect((await findAsset(stack().db, assetId))?.activeVersionId).toBe(published);
});

it("J10 P1 an asset that is deleted while it is processed gets no version, and all its objects go", async () => {
  const stop = uploading(stack());
  const { actionKey, assetId, key } = await bringVideo(stack());
  await stop.caught();
  await setAssetState(stack().site, stack().site.creator, assetId, "delete");
  stop.release();

  await expectSettled(stack(), actionKey, { state: "cancelled", attempts: 1, attemptStates: ["superseded"] });
  await travel(stack().db, 3700);
  await stack().control.cleanStorage();
  expect(await stack().store.head(key)).toBeNull();
  await expectIntact(stack());
});

it("P1 an asset that is blocked while it is processed is worked on no longer; allowed again and retried, it is published", async () => {
  const stop = verifying(stack());
  const { actionKey, assetId } = await bringVideo(stack());
  await stop.caught();
  await setAssetState(stack().site, admin, assetId, "block");
  stop.release();
  await expectSettled(stack(), actionKey, { state: "cancelled", attempts: 1, attemptStates: ["superseded"] });
  expect(await findJob(stack().db, actionKey)).toMatchObject({ cancelledBy: "asset-blocked" });

  await setAssetState(stack().site, admin, assetId, "unblock");
  await retryJob(stack().site, admin, { actionKey, generation: 1 });
  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 2 });
});

it("P1 U5 a file that is replaced while it is processed makes way: the newer one is published, the older never", async () => {
  const stop = beforePublish(stack());
  const older = await bringVideo(stack());
  await stop.caught();
  const newer = await bringVideo(stack(), { assetId: older.assetId });
  stop.release();

  await expectSettled(stack(), older.actionKey, {
    state: "cancelled",
    attempts: 1,
    attemptStates: ["superseded"],
  });
  await expectSettled(stack(), newer.actionKey, { state: "processing-completed", attempts: 1 });
  expect(await findJob(stack().db, older.actionKey)).toMatchObject({ cancelledBy: "superseded" });
  expect(await findAsset(stack().db, older.assetId)).toMatchObject({ sourceRevision: 2, versionCount: 1 });
});
