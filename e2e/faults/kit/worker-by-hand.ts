/** Workers that no dispatcher launched: a container that its machine starts again, a message from elsewhere. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { bundlePath } from "@reelkeep/local/bundle";
import { startChild, whenGone } from "@reelkeep/local/child";
import { workerEnvironment, workerNodeFlags } from "@reelkeep/worker/process-settings";
import type { WorkerProcess } from "./processes.ts";
import type { FaultStack } from "./stack.ts";

/** How a worker's process ended. */
export interface WorkerEnd {
  readonly exitCode: number | null;
  /** `RunOutcome` of the worker, from its log; null where it never came so far. */
  readonly outcome: string | null;
}

/** Starts a worker's process for a job, as any fleet would, and answers how it ended. */
export function startWorkerByHand(
  stack: FaultStack,
  { actionKey, generation = 1 }: { actionKey: string; generation?: number },
): Promise<WorkerEnd> {
  const machineId = `by-hand-${randomUUID()}`;
  const folder = path.join(stack.dataDir, "scratch", machineId);
  mkdirSync(folder, { recursive: true });
  const { bucket, region, credentials } = stack.bucket;
  return run(path.join(stack.dataDir, "logs", `${machineId}.log`), {
    ...workerEnvironment,
    DATABASE_URL: stack.database.url,
    S3_BUCKET: bucket,
    S3_REGION: region,
    S3_ENDPOINT: stack.storage.url("workers"),
    S3_ACCESS_KEY_ID: credentials!.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
    LEASE_SECONDS: String(stack.settings.LEASE_SECONDS),
    RETRY_BACKOFF_SECONDS: String(stack.settings.RETRY_BACKOFF_SECONDS),
    ACTION_KEY: actionKey,
    GENERATION: String(generation),
    MACHINE_ID: machineId,
    SCRATCH_DIR: folder,
  });
}

/** The environment of a worker that runs, for {@link restartWorker}. */
export const readEnvironment = ({ pid }: WorkerProcess): Record<string, string> =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      // The channel to its parent is each process's own.
      .filter((line) => line && !line.startsWith("NODE_CHANNEL_"))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

/** The same container once more: everything that it was given is as before. */
export const restartWorker = (
  { dataDir }: FaultStack,
  environment: Readonly<Record<string, string>>,
): Promise<WorkerEnd> => run(path.join(dataDir, "logs", `again-${randomUUID()}.log`), environment);

async function run(logFile: string, env: Readonly<Record<string, string>>): Promise<WorkerEnd> {
  const child = startChild({ script: bundlePath("worker"), nodeFlags: workerNodeFlags, logFile, env });
  await whenGone(child);
  const outcomes = readFileSync(logFile, "utf8").matchAll(/"outcome":"([^"]+)"/g);
  return { exitCode: child.exitCode, outcome: [...outcomes].at(-1)?.[1] ?? null };
}
