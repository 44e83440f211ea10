/** Real worker processes on a real database and a real storage. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import type { JobPolicy } from "@reelkeep/core/job/policy";
import { supersedeJobs } from "@reelkeep/db/job-moves";
import { findJob, type Job } from "@reelkeep/db/jobs";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { dispatchLaunches } from "@reelkeep/services/dispatch-outbox";
import { recoverJobs } from "@reelkeep/services/recover-jobs";
import { createActor, createTestContext, sendFile } from "@reelkeep/services/testing/context";
import { expect } from "vitest";
import { workerEnvironment, workerNodeFlags } from "../process-settings.ts";
import { testTools } from "./media.ts";

/** A worker process, with a log of its own. */
export interface TestWorker {
  readonly actionKey: string;
  readonly process: ChildProcess;
  output: string;
}

/** What a workshop stands on; closing it closes them. */
interface WorkshopParts {
  readonly database: { readonly url: string; drop(): Promise<void> };
  readonly storage: StorageConfig & {
    readonly endpoint: string;
    readonly credentials: NonNullable<StorageConfig["credentials"]>;
    stop(): Promise<void>;
  };
  /** The worker's bundle. */
  readonly script: string;
  readonly policy: Partial<JobPolicy>;
}

export type Workshop = Awaited<ReturnType<typeof openWorkshop>>;

/** One workshop for a test file. Its fleet has room for all; how launches are counted is tested elsewhere. */
export async function openWorkshop({ database, storage, script, policy }: WorkshopParts) {
  const context = createTestContext(database.url, storage);
  const creator = await createActor(context);
  const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-worker-test-"));
  const scratchFolder = path.join(folder, "scratch");

  const jobPolicy = { ...context.jobPolicy, retryBackoffSeconds: 0, workersMax: 1000, ...policy };
  const workers: TestWorker[] = [];
  let env: Readonly<Record<string, string>> = {};

  /** Started as the local stack does. */
  const fleet: WorkerFleet = {
    launch: async ({ actionKey, generation, provisioningToken }) => {
      const child = spawn(process.execPath, [...workerNodeFlags, script], {
        stdio: ["ignore", "pipe", "inherit", "ipc"],
        env: {
          ...process.env,
          ...workerEnvironment,
          ACTION_KEY: actionKey,
          GENERATION: String(generation),
          DATABASE_URL: database.url,
          S3_BUCKET: storage.bucket,
          S3_ENDPOINT: storage.endpoint,
          S3_ACCESS_KEY_ID: storage.credentials.accessKeyId,
          S3_SECRET_ACCESS_KEY: storage.credentials.secretAccessKey,
          SCRATCH_DIR: scratchFolder,
          LEASE_SECONDS: String(jobPolicy.leaseSeconds),
          STALL_SECONDS: String(jobPolicy.stallSeconds),
          RETRY_BACKOFF_SECONDS: String(jobPolicy.retryBackoffSeconds),
          ...env,
        },
      });
      const worker = { actionKey, process: child, output: "" };
      child.stdout!.on("data", (data) => {
        worker.output += data;
      });
      workers.push(worker);
      return {
        outcome: "launched",
        machine: { machineId: provisioningToken, provisioningToken, machineType: "process", usdPerHour: 0 },
      };
    },
    listingLagSeconds: 0,
    alive: async () => [],
    terminate: async () => {},
  };
  const control = { ...context, jobPolicy, fleet };

  /** As the admission of a newer revision does; nothing of a test is left for the next one to launch. */
  const supersede = async (actionKey: string): Promise<void> => {
    const job = await findJob(context.db, actionKey);
    if (!job) return;
    const older = { assetId: job.assetId, olderThanRevision: job.sourceRevision + 1 };
    await context.db.transaction((tx) => supersedeJobs(tx, older, "superseded"));
  };

  return {
    context: { ...context, jobPolicy },
    database,
    storage,
    creator,
    control,
    scratchFolder,
    supersede,

    /** A folder that is gone with the workshop. */
    makeFolder: () => mkdtempSync(path.join(folder, "test-")),

    /** Uploads a file, which is admitted, and answers its actionKey. */
    async admit(body: Uint8Array): Promise<string> {
      const uploadLimits = { ...context.uploadLimits, multipartThresholdBytes: 1e9 };
      const { actionKey } = await sendFile({ ...context, uploadLimits }, creator, body);
      expect((await completeUpload(context, creator, actionKey)).status).toBe("file-processing-ready");
      return actionKey;
    },

    /** Launches the worker of the only job that waits, with more in its environment. */
    async launch(more: Readonly<Record<string, string>> = {}): Promise<TestWorker> {
      env = more;
      const count = workers.length;
      await dispatchLaunches(control);
      expect(workers).toHaveLength(count + 1);
      return workers.at(-1)!;
    },

    /** Sweeps until an expired lease was returned. */
    async recover(): Promise<void> {
      while ((await recoverJobs(control)).expiredLeases === 0) await sleep(100);
    },

    /** Looks until the job is as wanted; the test's own time limit ends a wait in vain. */
    async until(actionKey: string, wanted: (job: Job) => boolean): Promise<Job> {
      for (;;) {
        const job = await findJob(context.db, actionKey);
        if (job && wanted(job)) return job;
        await sleep(100);
      }
    },

    /** Whether FFmpeg works in some worker's scratch. */
    runningInScratch: () => execFileSync("ps", ["-eo", "args="]).toString().includes(scratchFolder),

    /** A moving picture with sound, cheap to make. */
    makeVideo(name: string, seconds: number, size: string): Uint8Array {
      const sound = ["-f", "lavfi", "-i", `sine=d=${seconds}`, "-c:a", "aac", "-shortest"];
      return this.makeFilm(name, ["-i", `testsrc2=s=${size}:r=25:d=${seconds}`, ...sound]);
    },

    /** A film of what FFmpeg's own sources give; the first of them is a picture. */
    makeFilm(name: string, sources: readonly string[]): Uint8Array {
      const file = path.join(folder, name);
      const codecs = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"];
      execFileSync(testTools.ffmpeg, ["-v", "error", "-f", "lavfi", ...sources, ...codecs, file]);
      return readFileSync(file);
    },

    /** After each test. */
    async endWorkers(): Promise<void> {
      for (const { process: child, actionKey } of workers.splice(0)) {
        child.kill("SIGKILL");
        await supersede(actionKey);
      }
    },

    async close(): Promise<void> {
      await context.close();
      await storage.stop();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const ended = (job: Job): boolean => !["file-processing-ready", "job-received"].includes(job.state);
export const encoding = (job: Job): boolean => job.stage === "encode" && job.progressFraction > 0.06;

/** Settles when the worker's process is gone. */
export const gone = ({ process: child }: TestWorker): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });
