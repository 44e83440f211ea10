/**
 * The worker: one process for one job, started by a fleet. It is given an actionKey, a generation and where the
 * database and the bucket are; everything else it reads there. It leaves on every path, and with it its machine.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { createObjectStore } from "@reelkeep/aws/object-store";
import { createOwnMachine, type OwnMachine } from "@reelkeep/aws/own-machine";
import { storageConfigOf } from "@reelkeep/aws/storage-config";
import { AppError } from "@reelkeep/core/errors";
import { uuidSchema } from "@reelkeep/core/ids";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { openDatabase } from "@reelkeep/db/client";
import pino from "pino";
import { z } from "zod";
import { chooseEngine } from "./ffmpeg/choose-engine.ts";
import { findMediaTools, type MediaTools } from "./ffmpeg/tools.ts";
import { runJob } from "./run-job.ts";

const optional = z.string().min(1).optional();
const environment = z.object({
  ACTION_KEY: uuidSchema,
  GENERATION: z.coerce.number().int().positive(),
  DATABASE_URL: z.string().min(1),
  S3_BUCKET: z.string().min(1),
  S3_REGION: z.string().min(1).default("us-east-1"),
  S3_ENDPOINT: optional,
  S3_ACCESS_KEY_ID: optional,
  S3_SECRET_ACCESS_KEY: optional,
  MACHINE_KIND: z.enum(["process", "ec2"]).default("process"),
  MACHINE_ID: optional,
  AWS_EC2_METADATA_SERVICE_ENDPOINT: optional,
  SCRATCH_DIR: z.string().min(1).default(tmpdir()),
  LEASE_SECONDS: z.coerce.number().positive().default(defaultJobPolicy.leaseSeconds),
  STALL_SECONDS: z.coerce.number().positive().default(defaultJobPolicy.stallSeconds),
  RETRY_BACKOFF_SECONDS: z.coerce.number().nonnegative().default(defaultJobPolicy.retryBackoffSeconds),
});

/** Ending the machine asks AWS again and again, but not for ever. */
const endMachineMs = 60_000;
/** What a process gets that can't be trusted any more, or is an orphan: ending FFmpeg takes at most five seconds. */
const hurryMs = 10_000;

const log = pino({ name: "worker" });
const leaving = new AbortController();
const machine = readMachine();

/** Read before everything else, because the machine goes also where something else is missing. */
function readMachine(): OwnMachine {
  const env = environment
    .pick({ MACHINE_KIND: true, MACHINE_ID: true, S3_REGION: true, AWS_EC2_METADATA_SERVICE_ENDPOINT: true })
    .parse(process.env);
  const { MACHINE_KIND: kind, AWS_EC2_METADATA_SERVICE_ENDPOINT: metadataEndpoint } = env;
  if (kind === "process") return createOwnMachine({ kind, machineId: env.MACHINE_ID ?? null });
  return createOwnMachine({ kind, region: env.S3_REGION, ...(metadataEndpoint ? { metadataEndpoint } : {}) });
}

async function main(): Promise<void> {
  const env = environment.parse(process.env);
  const workerId = randomUUID();
  const runLog = log.child({ actionKey: env.ACTION_KEY, generation: env.GENERATION, workerId });
  const database = openDatabase(env.DATABASE_URL, {
    connectionsMax: 2,
    applicationName: `reelkeep-worker ${workerId}`,
  });
  try {
    const tools = await cagedTools(env.MACHINE_KIND, runLog);
    const { engine, abilities } = await chooseEngine(tools);
    if (abilities) runLog.info({ processor: engine.processor, abilities }, "a card is here");
    const outcome = await runJob(
      {
        db: database.db,
        databaseUrl: env.DATABASE_URL,
        store: createObjectStore(storageConfigOf(env)),
        jobPolicy: {
          ...defaultJobPolicy,
          leaseSeconds: env.LEASE_SECONDS,
          heartbeatSeconds: env.LEASE_SECONDS / 3,
          stallSeconds: env.STALL_SECONDS,
          retryBackoffSeconds: env.RETRY_BACKOFF_SECONDS,
        },
        tools,
        engine,
        scratchFolder: env.SCRATCH_DIR,
        workerId,
        machineId: await machineId(),
        newId: randomUUID,
        log: runLog,
        leaving: leaving.signal,
      },
      { actionKey: env.ACTION_KEY, generation: env.GENERATION },
    );
    runLog.info({ outcome, peakRssBytes: peakRssBytes() }, "done");
  } finally {
    await database.close();
  }
}

/**
 * On a cloud's machine FFmpeg without a cage could ask the metadata service for the worker's role, so there no job is
 * touched without one.
 */
async function cagedTools(machineKind: "process" | "ec2", runLog: pino.Logger): Promise<MediaTools> {
  const tools = await findMediaTools(process.env);
  const { cage, hasLimits } = tools;
  if (machineKind === "ec2" && !cage.isOffline)
    throw new AppError("worker-failed", {
      message:
        "FFmpeg can't be kept from the network here, so nothing is decoded. Allow user namespaces to the worker (unshare --user --net must work).",
      retryable: false,
    });
  if (!cage.isOffline)
    runLog.warn("FFmpeg can't be kept from the network here; its lists of formats and protocols stand alone");
  if (!cage.confinesFiles)
    runLog.warn(
      "FFmpeg can't be kept to its own files here; install bubblewrap (bwrap), and allow namespaces",
    );
  if (!hasLimits)
    runLog.warn("FFmpeg's memory and processor time can't be limited here: prlimit doesn't work");
  return tools;
}

/** What is recorded of the machine; the job doesn't fail for want of it. */
async function machineId(): Promise<string | null> {
  try {
    return await machine.id();
  } catch (error) {
    log.warn({ err: error }, "the machine's id isn't known");
    return null;
  }
}

/** On Linux not ru_maxrss, which begins with the memory of whoever started us. proc_pid_status(5), getrusage(2). */
function peakRssBytes(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
}

/** The last step of every path (J4). What it meets is told and changes nothing of how the run ended. */
async function leave(): Promise<void> {
  try {
    await Promise.race([machine.end(), sleep(endMachineMs)]);
  } catch (error) {
    log.error({ err: error }, "the machine couldn't be ended; its fleet's reaper will");
  } finally {
    process.exit();
  }
}

function leaveInAHurry(reason: AppError): void {
  leaving.abort(reason);
  setTimeout(() => {
    process.exitCode = 1;
    void leave();
  }, hurryMs);
}

// A stop hands the lease back at once, which costs no attempt.
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.on(signal, () => leaving.abort(new AppError("worker-leaving")));

// A local worker leaves with the stack that started it: ends FFmpeg, and hands its lease back where it still can.
process.on("disconnect", () => leaveInAHurry(new AppError("worker-leaving")));

// Rejections that nobody handles come here too. The attempt is recorded as failed where it still can be.
process.on("uncaughtException", (error) => {
  log.fatal({ err: error }, "uncaught error");
  process.exitCode = 1;
  leaveInAHurry(new AppError("worker-failed", { cause: error }));
});

main()
  .catch((error: unknown) => {
    log.fatal({ err: error }, "worker failed");
    process.exitCode = 1;
  })
  .finally(leave);
