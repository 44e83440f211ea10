/**
 * The worker: one process for one job, started by a fleet. It is given an actionKey, a generation and where the
 * database and the bucket are; everything else it reads there. It leaves on every path, and with it its machine.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createObjectStore } from "@reelkeep/aws/object-store";
import { storageConfigOf } from "@reelkeep/aws/storage-config";
import { uuidSchema } from "@reelkeep/core/ids";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { openDatabase } from "@reelkeep/db/client";
import pino from "pino";
import { z } from "zod";
import { findMediaTools } from "./ffmpeg/tools.ts";
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
  MACHINE_ID: optional,
  SCRATCH_DIR: z.string().min(1).default(tmpdir()),
  LEASE_SECONDS: z.coerce.number().positive().default(defaultJobPolicy.leaseSeconds),
  RETRY_BACKOFF_SECONDS: z.coerce.number().nonnegative().default(defaultJobPolicy.retryBackoffSeconds),
});

/** Ending FFmpeg takes at most five seconds. */
const orphanedMs = 10_000;

const log = pino({ name: "worker" });
const leaving = new AbortController();

async function main(): Promise<void> {
  const env = environment.parse(process.env);
  const workerId = randomUUID();
  const runLog = log.child({ actionKey: env.ACTION_KEY, generation: env.GENERATION, workerId });
  const database = openDatabase(env.DATABASE_URL, {
    connectionsMax: 2,
    applicationName: `reelkeep-worker ${workerId}`,
  });
  try {
    const outcome = await runJob(
      {
        db: database.db,
        databaseUrl: env.DATABASE_URL,
        store: createObjectStore(storageConfigOf(env)),
        jobPolicy: {
          ...defaultJobPolicy,
          leaseSeconds: env.LEASE_SECONDS,
          heartbeatSeconds: env.LEASE_SECONDS / 3,
          retryBackoffSeconds: env.RETRY_BACKOFF_SECONDS,
        },
        tools: await findMediaTools(process.env),
        scratchFolder: env.SCRATCH_DIR,
        workerId,
        machineId: env.MACHINE_ID ?? null,
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

/** On Linux not ru_maxrss, which begins with the memory of whoever started us. proc_pid_status(5), getrusage(2). */
function peakRssBytes(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;
}

// A stop hands the lease back at once, which costs no attempt.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => leaving.abort());

// A local worker leaves with the stack that started it: ends FFmpeg, and hands its lease back where it still can.
process.on("disconnect", () => {
  leaving.abort();
  setTimeout(() => process.exit(1), orphanedMs).unref();
});

main().then(
  () => process.exit(0),
  (error: unknown) => {
    log.fatal({ err: error }, "worker failed");
    process.exit(1);
  },
);
