import { randomUUID } from "node:crypto";
import { createObjectStore } from "@reelkeep/aws/object-store";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { defaultUploadLimits } from "@reelkeep/core/upload/policy";
import type { Database } from "@reelkeep/db/client";
import { admitStoredObject } from "@reelkeep/services/admit-upload";
import { cleanStorage } from "@reelkeep/services/clean-storage";
import { dispatchEvents, dispatchLaunches } from "@reelkeep/services/dispatch-outbox";
import { expireUploads } from "@reelkeep/services/expire-uploads";
import { reapMachines } from "@reelkeep/services/reap-machines";
import { recoverJobs } from "@reelkeep/services/recover-jobs";
import type { SweepFailure } from "@reelkeep/services/sweep";
import type { Logger } from "pino";
import { bundlePath } from "./bundle.ts";
import type { LocalSettings } from "./settings.ts";

/** What on AWS are Lambda functions: what storage's events and the schedule call. */
export interface Control {
  onObjectCreated(key: string): Promise<void>;
  dispatch(): Promise<void>;
  recover(): Promise<void>;
  expireUploads(): Promise<void>;
  cleanStorage(): Promise<void>;
}

export function createControl(parts: {
  db: Database;
  storage: StorageConfig;
  fleet: WorkerFleet;
  settings: LocalSettings;
  log: Logger;
}): Control {
  const { db, fleet, settings, log } = parts;
  const needs = {
    db,
    fleet,
    store: createObjectStore(parts.storage),
    newId: randomUUID,
    probeScript: bundlePath("probe-process"),
    profile: settings.PROFILE,
    uploadLimits: {
      multipartThresholdBytes: settings.MULTIPART_THRESHOLD_BYTES,
      partBytesMin: settings.MULTIPART_PART_BYTES_MIN,
      sizeBytesMax: settings.MAX_UPLOAD_BYTES,
      durationSecondsMax: settings.MAX_DURATION_SECONDS,
      openUploadsMax: defaultUploadLimits.openUploadsMax,
    },
    jobPolicy: {
      ...defaultJobPolicy,
      leaseSeconds: settings.LEASE_SECONDS,
      heartbeatSeconds: settings.LEASE_SECONDS / 3,
      retryBackoffSeconds: settings.RETRY_BACKOFF_SECONDS,
      workersMax: settings.WORKERS_MAX,
      launchSeconds: settings.LAUNCH_SECONDS,
      idleMachineSeconds: settings.IDLE_WORKER_SECONDS,
      dailyBudgetUsd: settings.DAILY_BUDGET_USD ?? null,
    },
  };
  function tellFailures(sweep: string, failures: readonly SweepFailure[]) {
    for (const { actionKey, error } of failures)
      log.error({ err: error, actionKey, sweep }, "left for later");
  }
  return {
    async onObjectCreated(key) {
      log.info({ key, outcome: await admitStoredObject(needs, key) }, "object created");
    },
    async dispatch() {
      // This fleet lists at once, and nothing is launched but below.
      const {
        gone: _,
        failures,
        strangers,
        ...reaping
      } = await reapMachines(needs, { betweenLaunches: true });
      if (reaping.relaunches || reaping.ended) log.warn(reaping, "reaped workers");
      if (strangers.length) log.error({ strangers }, "workers that no launch knows");
      tellFailures("reap-machines", failures);
      await dispatchLaunches(needs);
      await dispatchEvents(needs, async ({ kind, actionKey, payload }) =>
        log.info({ actionKey, ...payload }, kind),
      );
    },
    async recover() {
      const { failures, ...recovery } = await recoverJobs(needs);
      if (recovery.expiredLeases || recovery.relaunches) log.warn(recovery, "recovered jobs");
      tellFailures("recover", failures);
    },
    async expireUploads() {
      const { failures, ...result } = await expireUploads(needs);
      if (result.admitted || result.expired) log.info(result, "abandoned uploads");
      tellFailures("expire-uploads", failures);
    },
    async cleanStorage() {
      const deleted = await cleanStorage(needs);
      if (deleted) log.info({ deleted }, "cleaned storage");
    },
  };
}
