/** What people do: bring files, cancel, try again, block and delete. */
import type { AssetMove } from "@reelkeep/core/asset/machine";
import { assetCleanupDelaySeconds, attemptsPerGeneration } from "@reelkeep/core/job/policy";
import type { uploadStates } from "@reelkeep/core/upload/machine";
import {
  end,
  enterDeletion,
  intend,
  isOvertaken,
  isUnfinished,
  refused,
  type Steps,
  supersede,
  unfinishedOf,
  wait,
} from "./consequences.ts";
import type { Action, Model } from "./job-model.ts";

export function* admit(m: Model, upload: string, assetName: string): Steps {
  const asset = m.rows.assets[assetName]!;
  const row = { asset: assetName, state: "url-created" as (typeof uploadStates)[number] };
  m.rows.uploads[upload] = row;
  yield;
  if (asset.state !== "active") {
    row.state = "rejected";
    enterDeletion(m, upload, 0);
    return "rejected";
  }
  row.state = "file-uploaded";
  asset.sourceRevision++;
  supersede(m, unfinishedOf(m, assetName), "superseded");
  m.rows.jobs[upload] = {
    asset: assetName,
    revision: asset.sourceRevision,
    admittedAt: m.now,
    state: "file-processing-ready",
    generation: 1,
    attemptCount: 0,
    attemptLimit: attemptsPerGeneration,
    holder: null,
    leaseUntil: null,
    cancelRequested: false,
    cancelledBy: null,
    waitingReason: "queued",
    retryAt: null,
    launch: null,
    machine: null,
    launchedAt: null,
    launchCount: 0,
    errorCode: null,
    endedAt: null,
  };
  intend(m, upload, 0);
  return "file-uploaded";
}

export function* cancel(m: Model, { job: name, by }: Extract<Action, { do: "cancel" }>): Steps {
  const job = m.rows.jobs[name]!;
  if (by === "stranger" || m.rows.assets[job.asset]!.state === "deleted") return refused("not-found");
  yield;
  switch (job.state) {
    case "file-processing-ready":
      job.cancelledBy = by;
      end(m, name, "cancelled", job.errorCode);
      return null;
    case "job-received":
      if (!job.cancelRequested) Object.assign(job, { cancelRequested: true, cancelledBy: by });
      return null;
    case "cancelled":
      return null;
    default:
      return refused("job-ended");
  }
}

export function* retry(m: Model, { job: name, generation, by }: Extract<Action, { do: "retry" }>): Steps {
  const job = m.rows.jobs[name]!;
  const stateNow = () => m.rows.assets[job.asset]!.state;
  if (by === "stranger" || stateNow() === "deleted") return refused("not-found");
  if (by !== "admin") return refused("forbidden");
  yield;
  if (stateNow() !== "active") return refused(`asset-${stateNow()}`);
  if (job.generation > generation) return null;
  if (job.state === "processing-completed") return refused("job-ended");
  if (isUnfinished(job)) return refused("job-unfinished");
  if (isOvertaken(m, job)) return refused("newer-file");
  if (job.generation !== generation) return refused("conflict");
  // A newer job that is on its way would have refused this one.
  supersede(m, unfinishedOf(m, job.asset), "superseded");
  Object.assign(job, {
    generation: generation + 1,
    attemptLimit: job.attemptCount + attemptsPerGeneration,
    launchCount: 0,
    retryAt: null,
    cancelRequested: false,
    cancelledBy: null,
    errorCode: null,
    endedAt: null,
  });
  wait(m, name, "queued", 0);
  return null;
}

export function* moveAsset(m: Model, action: { do: AssetMove; asset: string; by: string }): Steps {
  const asset = m.rows.assets[action.asset]!;
  const stateNow = () => asset.state;
  if (action.by === "stranger" || asset.state === "deleted") return refused("not-found");
  if (action.do !== "delete" && action.by !== "admin") return refused("forbidden");
  yield;
  switch (action.do) {
    case "block":
      if (asset.state !== "active") return null;
      asset.state = "blocked";
      supersede(m, unfinishedOf(m, action.asset), "asset-blocked");
      return null;
    case "unblock":
      if (asset.state === "blocked") asset.state = "active";
      return null;
    default:
      if (stateNow() !== "deleted") deleteAsset(m, action.asset);
      return null;
  }
}

function deleteAsset(m: Model, name: string): void {
  const asset = m.rows.assets[name]!;
  asset.state = "deleted";
  supersede(m, unfinishedOf(m, name), "asset-deleted");
  const sources = Object.entries(m.rows.uploads).filter(([, upload]) => upload.asset === name);
  for (const [source] of sources) enterDeletion(m, source, assetCleanupDelaySeconds);
  for (const version of asset.versions) enterDeletion(m, version, assetCleanupDelaySeconds);
}
