import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import type { Actor } from "@reelkeep/core/access/policy";
import { AppError } from "@reelkeep/core/errors";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { supersedeOlderJobs } from "@reelkeep/db/job-moves";
import { findJob, type Job } from "@reelkeep/db/jobs";
import { findVersionOfAttempt } from "@reelkeep/db/media-versions";
import { bundle, bundlePath } from "@reelkeep/local/bundle";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { dispatchLaunches } from "@reelkeep/services/dispatch-outbox";
import { getMediaStatus } from "@reelkeep/services/get-media-status";
import { recoverJobs } from "@reelkeep/services/recover-jobs";
import {
  createActor,
  createTestContext,
  sendFile,
  type TestContext,
} from "@reelkeep/services/testing/context";
import pino from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { workerEnvironment, workerNodeFlags } from "./process-settings.ts";
import { runJob, type WorkerContext } from "./run-job.ts";
import { testTools } from "./testing/media.ts";
import { startTcpProxy } from "./testing/tcp-proxy.ts";

const leaseSeconds = 3;
let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let creator: Actor;
/** How workers reach the database. */
let workersDatabaseUrl: string;
let folder: string;
let short: Uint8Array;
let long: Uint8Array;

beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  creator = await createActor(context);
  workersDatabaseUrl = database.url;
  folder = mkdtempSync(path.join(tmpdir(), "reelkeep-worker-test-"));
  short = makeVideo("short.mp4", 8, "320x180");
  long = makeVideo("long.mp4", 90, "1280x720");
  await bundle();
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A moving picture with sound, cheap to make. */
function makeVideo(name: string, seconds: number, size: string): Uint8Array {
  const file = path.join(folder, name);
  const inputs = [
    "-f",
    "lavfi",
    "-i",
    `testsrc2=s=${size}:r=25:d=${seconds}`,
    "-f",
    "lavfi",
    "-i",
    `sine=d=${seconds}`,
  ];
  const codecs = [
    "-c:v",
    "libx264",
    "-preset",
    "ultrafast",
    "-pix_fmt",
    "yuv420p",
    "-c:a",
    "aac",
    "-shortest",
  ];
  execFileSync(process.env.FFMPEG_PATH || "ffmpeg", ["-v", "error", ...inputs, ...codecs, file]);
  return readFileSync(file);
}

/** Worker processes as the local stack starts them, each with a log of its own. */
const workers: { actionKey: string; process: ChildProcess; output: string }[] = [];
const scratchFolder = () => path.join(folder, "scratch");
const fleet: WorkerFleet = {
  launch: async ({ actionKey, generation, provisioningToken }) => {
    const child = spawn(process.execPath, [...workerNodeFlags, bundlePath("worker")], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
      env: {
        ...process.env,
        ...workerEnvironment,
        ACTION_KEY: actionKey,
        GENERATION: String(generation),
        DATABASE_URL: workersDatabaseUrl,
        S3_BUCKET: storage.bucket,
        S3_ENDPOINT: storage.endpoint,
        S3_ACCESS_KEY_ID: storage.credentials.accessKeyId,
        S3_SECRET_ACCESS_KEY: storage.credentials.secretAccessKey,
        SCRATCH_DIR: scratchFolder(),
        LEASE_SECONDS: String(leaseSeconds),
        RETRY_BACKOFF_SECONDS: "0",
      },
    });
    const worker = { actionKey, process: child, output: "" };
    child.stdout!.on("data", (data) => {
      worker.output += data;
    });
    workers.push(worker);
    return { outcome: "launched", machineId: provisioningToken };
  },
  alive: async () => [],
  terminate: async () => {},
};
afterEach(async () => {
  for (const { process: child, actionKey } of workers.splice(0)) {
    child.kill("SIGKILL");
    await supersede(actionKey);
  }
});

/** As the admission of a newer revision does; nothing of this test is left for the next one to launch. */
async function supersede(actionKey: string): Promise<void> {
  const job = await findJob(context.db, actionKey);
  if (job) await context.db.transaction((tx) => supersedeOlderJobs(tx, job.assetId, job.sourceRevision + 1));
}

const policy = () => ({ ...context.jobPolicy, leaseSeconds, retryBackoffSeconds: 0 });
const control = () => ({ ...context, jobPolicy: policy(), fleet });

async function admit(body: Uint8Array): Promise<string> {
  const upload = await sendFile(
    { ...context, uploadLimits: { ...context.uploadLimits, multipartThresholdBytes: 1e9 } },
    creator,
    body,
  );
  const answer = await completeUpload(context, creator, upload.actionKey);
  expect(answer.status).toBe("file-processing-ready");
  return upload.actionKey;
}

/** Looks until the job is as wanted; the test's own time limit ends a wait in vain. */
async function until(actionKey: string, wanted: (job: Job) => boolean): Promise<Job> {
  for (;;) {
    const job = await findJob(context.db, actionKey);
    if (job && wanted(job)) return job;
    await sleep(100);
  }
}
const ended = (job: Job) => !["file-processing-ready", "job-received"].includes(job.state);
const encoding = (job: Job) => job.stage === "encode" && job.progressFraction > 0.06;

/** What a run in this process stands on; its log goes to `lines`. */
function workerContext(lines: string[] = []): WorkerContext {
  return {
    ...context,
    jobPolicy: policy(),
    tools: testTools,
    scratchFolder: scratchFolder(),
    workerId: randomUUID(),
    machineId: null,
    log: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    leaving: new AbortController().signal,
  };
}

const runningInScratch = () => execFileSync("ps", ["-eo", "args="]).toString().includes(scratchFolder());

const gone = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });

describe("a worker process", () => {
  it("J1 J3 M7 P1 takes an admitted job from its claim to a published, complete version and leaves nothing behind", async () => {
    const actionKey = await admit(short);
    await dispatchLaunches(control());
    const job = await until(actionKey, ended);
    expect(job).toMatchObject({ state: "processing-completed", attemptCount: 1, errorCode: null });
    const [attempt] = await listAttempts(context.db, actionKey);
    const version = await findVersionOfAttempt(context.db, attempt!.id);
    expect(version).toMatchObject({ versionNumber: 1, width: 320, height: 180, hasAudio: true });
    expect(version!.durationSeconds).toBeCloseTo(8, 1);
    for (const { name, sizeBytes, etag } of version!.inventory)
      expect(await context.store.head(version!.prefix + name), name).toMatchObject({ sizeBytes, etag });
    const status = await getMediaStatus(context, creator, actionKey);
    expect(Object.values(status.processByResolution)).toEqual([`${version!.prefix}240p/playlist.m3u8`]);
    expect(status.progress.renditions).toMatchObject([{ name: "240p", complete: true, fraction: 1 }]);
    await gone(workers[0]!.process);
    expect(workers[0]!.process.exitCode).toBe(0);
    expect(readdirSync(scratchFolder())).toEqual([]);
  });

  it("J6 J2 M9 killed in the middle of encoding, its job goes to a second attempt, which finishes", async () => {
    const actionKey = await admit(long);
    await dispatchLaunches(control());
    await until(actionKey, encoding);
    workers[0]!.process.kill("SIGKILL");
    await gone(workers[0]!.process);
    // The kernel ends FFmpeg with its parent; where it can't, the fleet does.
    if (testTools.cage.includes("setpriv")) await vi.waitFor(() => expect(runningInScratch()).toBe(false));
    expect(await recoverJobs(control())).toMatchObject({ expiredLeases: 0 });
    while ((await recoverJobs(control())).expiredLeases === 0) await sleep(100);
    await dispatchLaunches(control());
    expect(await until(actionKey, ended)).toMatchObject({ state: "processing-completed", attemptCount: 2 });
    const attempts = await listAttempts(context.db, actionKey);
    expect(attempts.map(({ state }) => state)).toEqual(["succeeded", "lease-expired"]);
    const version = await findVersionOfAttempt(context.db, attempts[0]!.id);
    expect(version!.prefix).toMatch(/attempt-2\/$/);
    await gone(workers[1]!.process);
    expect(readdirSync(scratchFolder())).toEqual([]);
    const done = JSON.parse(workers[1]!.output.trim().split("\n").at(-1)!);
    // The whole process, lease thread included, whatever the file's size.
    expect(done.peakRssBytes).toBeLessThan(150_000_000);
  }, 180_000);

  it("J4 asked to stop, hands its lease back at once, which costs no attempt", async () => {
    const actionKey = await admit(long);
    await dispatchLaunches(control());
    await until(actionKey, encoding);
    workers[0]!.process.kill("SIGTERM");
    const job = await until(actionKey, ({ state }) => state === "file-processing-ready");
    expect(job).toMatchObject({ attemptCount: 1, attemptLimit: 4, waitingReason: "queued" });
    expect(await listAttempts(context.db, actionKey)).toMatchObject([{ state: "handed-back" }]);
    await gone(workers[0]!.process);
  });

  it("J3 a worker whose job was superseded stops, kills FFmpeg and writes nothing more", async () => {
    const actionKey = await admit(long);
    await dispatchLaunches(control());
    await until(actionKey, encoding);
    const children = () =>
      execFileSync("ps", ["-o", "comm=", "--ppid", String(workers[0]!.process.pid)]).toString();
    expect(children()).toContain("ffmpeg");
    await supersede(actionKey);
    await gone(workers[0]!.process);
    expect(runningInScratch()).toBe(false);
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: "superseded",
    });
    expect(readdirSync(scratchFolder())).toEqual([]);
  });

  it("J3 J4 a worker whose supervisor has died ends FFmpeg and hands its lease back", async () => {
    const actionKey = await admit(long);
    await dispatchLaunches(control());
    await until(actionKey, encoding);
    workers[0]!.process.disconnect();
    await gone(workers[0]!.process);
    expect(runningInScratch()).toBe(false);
    expect(await listAttempts(context.db, actionKey)).toMatchObject([{ state: "handed-back" }]);
  });

  it("J3 a worker whose database falls silent ends FFmpeg and leaves", async () => {
    const proxy = await startTcpProxy(database.url);
    onTestFinished(proxy.close);
    workersDatabaseUrl = proxy.url;
    onTestFinished(() => {
      workersDatabaseUrl = database.url;
    });
    const actionKey = await admit(long);
    await dispatchLaunches(control());
    await until(actionKey, encoding);
    proxy.swallow();
    await gone(workers[0]!.process);
    expect(workers[0]!.output).toContain('"outcome":"lease-lost"');
    expect(runningInScratch()).toBe(false);
  });

  it("U5 a source that was overwritten after admission ends the job as source-changed", async () => {
    const actionKey = await admit(short);
    const { sourceKey } = (await findJob(context.db, actionKey))!;
    await context.store.putText(sourceKey, "another file", { contentType: "video/mp4" });
    await dispatchLaunches(control());
    expect(await until(actionKey, ended)).toMatchObject({
      state: "failed",
      errorCode: "source-changed",
      attemptCount: 1,
    });
  });

  it("M1 J5 a file that can't become a video fails cheaply, for good, with its code", async () => {
    const cut = short.slice(0, 4000);
    const actionKey = await admit(cut);
    await dispatchLaunches(control());
    const job = await until(actionKey, ended);
    expect(job).toMatchObject({ state: "failed", attemptCount: 1, errorCode: "unreadable-file" });
    const [attempt] = await listAttempts(context.db, actionKey);
    expect(attempt).toMatchObject({ state: "failed", stage: "probe", errorCode: "unreadable-file" });
  });
});

describe("a run", () => {
  const unknown = () => ({ actionKey: randomUUID(), generation: 1 });

  it("J4 told to leave before its claim, claims nothing", async () => {
    const { actionKey } = await admitUnlaunched();
    const outcome = await runJob(
      { ...workerContext(), leaving: AbortSignal.abort() },
      { actionKey, generation: 1 },
    );
    expect(outcome).toBe("leaving");
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "file-processing-ready",
      attemptCount: 0,
    });
  });

  it("J1 started for a job that doesn't exist, says so as an error", async () => {
    const lines: string[] = [];
    expect(await runJob(workerContext(lines), unknown())).toBe("missing");
    expect(lines.map((line) => JSON.parse(line).level)).toEqual([pino.levels.values.error]);
  });

  it("J5 a download that storage breaks off is tried again and costs no attempt", async () => {
    const { actionKey } = await admitUnlaunched();
    let downloads = 0;
    const store: WorkerContext["store"] = {
      ...context.store,
      download: async (...words) => {
        if (++downloads === 1) throw new AppError("storage-unavailable");
        await context.store.download(...words);
      },
    };
    expect(await runJob({ ...workerContext(), store }, { actionKey, generation: 1 })).toBe("published");
    expect(await findJob(context.db, actionKey)).toMatchObject({ attemptCount: 1 });
  });

  /** An admitted job that only this test's own run takes. */
  async function admitUnlaunched(): Promise<{ actionKey: string }> {
    const actionKey = await admit(short);
    onTestFinished(() => supersede(actionKey));
    return { actionKey };
  }
});
