import type { ObjectStore } from "@reelkeep/aws/object-store";
import { findJob, type Job } from "@reelkeep/db/jobs";
import { listVersionsOfJob } from "@reelkeep/db/testing/evidence";
import { describe, expect, it } from "vitest";
import { attemptsInOrder, expectSettled, type Settlement, waitForJob } from "./kit/invariants.ts";
import { findWorker, killAndWait } from "./kit/processes.ts";
import { type FaultStack, startFaultStackForFile } from "./kit/stack.ts";
import { beforeClaim, beforePublish, heartbeating, insidePublish, uploading } from "./kit/stops.ts";
import { bringVideo, longClip } from "./kit/uploads.ts";
import { workerFaultsForFile } from "./kit/worker-faults.ts";

const leaseSeconds = 6;
const faults = workerFaultsForFile();

const published = (...attemptStates: NonNullable<Settlement["attemptStates"]>): Settlement => ({
  state: "processing-completed",
  attempts: attemptStates.length,
  attemptStates,
});

const isCompleted = ({ state }: Job) => state === "processing-completed";

/** Everything that the successor of an orphan has made: rows as they are, objects by their ETags. */
async function pictureOf({ db, store }: FaultStack, actionKey: string) {
  const versions = await listVersionsOfJob(db, actionKey);
  return {
    job: await findJob(db, actionKey),
    attempts: await attemptsInOrder(db, actionKey),
    versions,
    objects: await listAll(store, versions[0]!.prefix),
  };
}

async function listAll(store: ObjectStore, prefix: string) {
  const objects = [];
  for await (const object of store.list(prefix)) objects.push(object);
  return objects;
}

describe("an orphan that nobody ends", () => {
  const stack = startFaultStackForFile({
    settings: { LEASE_SECONDS: `${leaseSeconds}`, IDLE_WORKER_SECONDS: "600" },
    workerEnv: faults.env,
  });

  it.each([
    { when: "while it uploads", stopAt: uploading },
    { when: "while its heartbeat is on the way", stopAt: heartbeating },
    { when: "right before it publishes", stopAt: beforePublish },
    // Asset and job stay locked until the server ends the session, after half a minute.
    { when: "in the middle of its publication", stopAt: insidePublish },
  ])(
    "J3 J6 P1 a worker frozen $when, past its lease, wakes beside the version of its successor and changes nothing",
    async ({ stopAt }) => {
      const stop = stopAt(stack());
      const { actionKey } = await bringVideo(stack());
      await stop.caught();
      const orphan = await findWorker(actionKey);
      orphan.freeze();
      await waitForJob(stack(), actionKey, isCompleted, 120);
      const before = await pictureOf(stack(), actionKey);
      stop.release();
      orphan.thaw();
      await orphan.untilGone();

      expect(await pictureOf(stack(), actionKey)).toEqual(before);
      await expectSettled(stack(), actionKey, published("lease-expired", "succeeded"));
    },
  );

  it.each([
    { how: "an hour fast", seconds: 3600 },
    { how: "an hour slow", seconds: -3600 },
  ])(
    "J2 J3 a worker whose clock is $how keeps its lease and has its requests to storage accepted",
    async ({ seconds }) => {
      const refused = () =>
        stack()
          .storage.requests({ by: "workers" })
          .filter(({ status }) => status === 403);
      const before = refused().length;
      faults.setClocksOff(seconds);
      const { actionKey } = await bringVideo(stack());

      await expectSettled(stack(), actionKey, published("succeeded"));
      // The first, which tells the SDK how far off the clock is.
      expect(refused().length - before).toBeGreaterThan(0);
    },
  );

  it("J3 a worker whose main thread is blocked for longer than its lease keeps it and goes on", async () => {
    const { actionKey } = await bringVideo(stack(), { clip: longClip() });
    const worker = await findWorker(actionKey);
    await worker.untilEncoding();
    await faults.block("main", leaseSeconds * 2);

    await expectSettled(stack(), actionKey, published("succeeded"));
  });

  it("J3 a worker whose heartbeat thread is blocked has left before another claims", {
    tags: ["short"],
  }, async () => {
    const stop = uploading(stack());
    const { actionKey } = await bringVideo(stack());
    await stop.caught();
    const worker = await findWorker(actionKey);
    const successor = beforeClaim(stack());
    await faults.block("lease");
    await successor.caught();
    expect(worker.isAlive()).toBe(false);
    successor.release();

    await expectSettled(stack(), actionKey, published("lease-expired", "succeeded"));
  });

  it("J5 M8 FFmpeg killed as the system does for want of memory fails the attempt; another follows", async () => {
    const { actionKey } = await bringVideo(stack(), { clip: longClip() });
    const worker = await findWorker(actionKey);
    await killAndWait(await worker.untilEncoding());

    await expectSettled(stack(), actionKey, published("failed", "succeeded"));
    const [first] = await attemptsInOrder(stack().db, actionKey);
    expect(first).toMatchObject({ errorCode: "encoder-failed", stage: "encode" });
  });
});

describe("a watchdog that is soon impatient", () => {
  const stack = startFaultStackForFile({
    settings: { LEASE_SECONDS: `${leaseSeconds}`, IDLE_WORKER_SECONDS: "600" },
    workerEnv: { ...faults.env, STALL_SECONDS: "6" },
  });

  it("J12 FFmpeg that hangs ends the attempt as stalled, and another follows", async () => {
    const { actionKey } = await bringVideo(stack(), { clip: longClip() });
    const worker = await findWorker(actionKey);
    await worker.untilEncoding();
    worker.freezeEncoders();

    await expectSettled(stack(), actionKey, published("failed", "succeeded"));
    const [first] = await attemptsInOrder(stack().db, actionKey);
    expect(first).toMatchObject({ errorCode: "stalled", stage: "encode" });
    expect(worker.encoderPids()).toEqual([]);
  });

  it("J12 J3 a worker whose main thread is blocked for ever ends itself, and another follows", async () => {
    const stop = uploading(stack());
    const { actionKey } = await bringVideo(stack());
    await stop.caught();
    const worker = await findWorker(actionKey);
    await faults.block("main");
    await worker.untilGone(60);

    await expectSettled(stack(), actionKey, published("lease-expired", "succeeded"));
  });
});

describe("one worker at a time", () => {
  const stack = startFaultStackForFile({
    settings: { LEASE_SECONDS: `${leaseSeconds}`, IDLE_WORKER_SECONDS: "1", WORKERS_MAX: "1" },
  });

  it("J6 J8 a worker frozen past its lease is ended, and its place goes to its successor", async () => {
    const stop = uploading(stack());
    const { actionKey } = await bringVideo(stack());
    await stop.caught();
    const orphan = await findWorker(actionKey);
    orphan.freeze();
    await findWorker(actionKey, orphan);
    expect(orphan.isAlive()).toBe(false);

    await expectSettled(stack(), actionKey, published("lease-expired", "succeeded"));
  });
});
