import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeVideo } from "../media.ts";
import { expectSettled, waitForJob } from "./kit/invariants.ts";
import { poll } from "./kit/poll.ts";
import { findWorker, type WorkerProcess } from "./kit/processes.ts";
import { startFaultStackForFile } from "./kit/stack.ts";
import {
  beforeClaim,
  beforeDownload,
  beforePublish,
  claimCommit,
  claiming,
  publishCommit,
  publishing,
  uploading,
  verifying,
} from "./kit/stops.ts";
import { bringVideo, longClip } from "./kit/uploads.ts";

const stack = startFaultStackForFile({ settings: { LEASE_SECONDS: "6" } });

const scratchOf = ({ machineId }: WorkerProcess) => path.join(stack().dataDir, "scratch", machineId);

/** What a dead worker leaves on its machine would fill it. */
async function expectNoTrace(worker: WorkerProcess): Promise<void> {
  await poll(`FFmpeg of ${worker.machineId} is gone`, () => worker.encoderPids().length === 0);
  await poll(`the scratch of ${worker.machineId} is gone`, () => !existsSync(scratchOf(worker)));
}

/** The job's first attempt was lost with its worker, the second published. */
async function expectSuccessor(actionKey: string, lost: WorkerProcess): Promise<void> {
  await expectSettled(stack(), actionKey, {
    state: "processing-completed",
    attempts: 2,
    attemptStates: ["lease-expired", "succeeded"],
  });
  await expectNoTrace(lost);
}

it("J6 a worker killed before its claim is replaced, and costs no attempt", { tags: ["short"] }, async () => {
  const stop = beforeClaim(stack());
  const { actionKey } = await bringVideo(stack());
  await stop.caught();
  const worker = await findWorker(actionKey);
  await worker.kill();
  stop.cut();

  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  await expectNoTrace(worker);
});

it("J6 J2 a worker killed while its claim's COMMIT is on the way holds the job until its lease ends; another follows", async () => {
  const stop = claiming(stack());
  const { actionKey } = await bringVideo(stack());
  await stop.caught();
  const worker = await findWorker(actionKey);
  await worker.kill();
  stop.release();

  await expectSuccessor(actionKey, worker);
});

it("J1 J2 the answer to the claim's COMMIT is lost: the worker asks again, and it is the same attempt", async () => {
  const lost = stack().database.loseAnswer(claimCommit);
  const { actionKey } = await bringVideo(stack());
  await lost.caught();

  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
});

it.each([
  { when: "after its claim", stopAt: beforeDownload },
  { when: "while it uploads", stopAt: uploading },
  { when: "while it verifies", stopAt: verifying },
  { when: "just before it publishes", stopAt: beforePublish },
  { when: "between its publication's last statement and COMMIT", stopAt: publishing },
])(
  "J6 P1 a worker killed $when is followed by another, and nothing of its own is published",
  async ({ stopAt }) => {
    const stop = stopAt(stack());
    const { actionKey } = await bringVideo(stack());
    await stop.caught();
    const worker = await findWorker(actionKey);
    await worker.kill();
    stop.cut();

    await expectSuccessor(actionKey, worker);
  },
);

it("J6 M9 a worker killed while it downloads is followed by another, and its half source is gone", async () => {
  stack().storage.slow(100_000, { by: "workers", method: "GET", key: /^uploads\// });
  const clip = readFileSync(makeVideo("heavy.mp4", 2, { bitsPerSecond: 2_000_000 }));
  const { actionKey } = await bringVideo(stack(), { clip });
  const worker = await findWorker(actionKey);
  const sizeBytes = await poll("a part of the source has arrived", () => sourceBytes(worker));
  expect(sizeBytes).toBeLessThan(clip.length);
  await worker.kill();

  await expectSuccessor(actionKey, worker);
});

function sourceBytes(worker: WorkerProcess): number | undefined {
  const source = readdirSync(scratchOf(worker), { recursive: true, encoding: "utf8" }).find(
    (name) => path.basename(name) === "source",
  );
  return (source && statSync(path.join(scratchOf(worker), source)).size) || undefined;
}

it("J6 M8 a worker killed while it encodes is followed by another, and its FFmpeg and its scratch are gone", async () => {
  const { actionKey } = await bringVideo(stack(), { clip: longClip() });
  const worker = await findWorker(actionKey);
  await worker.untilEncoding();
  await worker.kill();

  await expectSuccessor(actionKey, worker);
});

it("P1 J2 the answer to the publication's COMMIT is lost: the worker asks again, and it is the same version", async () => {
  const lost = stack().database.loseAnswer(publishCommit);
  const { actionKey } = await bringVideo(stack());
  await lost.caught();

  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
});

it.each([
  { when: "while its publication's COMMIT is on the way", arrives: "later" },
  { when: "before it hears that it has published", arrives: "already" },
])("P1 J6 a worker killed $when has published, once and for good", async ({ arrives }) => {
  const { database } = stack();
  const late = arrives === "later" ? database.hold(publishCommit) : null;
  const silent = late ?? database.loseAnswer(publishCommit, { silent: true });
  const { actionKey } = await bringVideo(stack());
  await silent.caught();
  const worker = await findWorker(actionKey);
  await worker.kill();
  late?.release();

  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  await expectNoTrace(worker);
});

it("J5 J6 a job whose worker is killed in each of its three attempts fails, and says why", async () => {
  const { actionKey } = await bringVideo(stack());
  let worker: WorkerProcess | undefined;
  for (const attempts of [1, 2, 3]) {
    const stop = beforeDownload(stack());
    await stop.caught();
    worker = await findWorker(actionKey, worker);
    await waitForJob(stack(), actionKey, ({ attemptCount }) => attemptCount === attempts);
    await worker.kill();
    stop.cut();
  }

  await expectSettled(stack(), actionKey, {
    state: "failed",
    attempts: 3,
    errorCode: "worker-lost",
    attemptStates: ["lease-expired", "lease-expired", "lease-expired"],
  });
});
