import type { Actor } from "@reelkeep/core/access/policy";
import { AppError } from "@reelkeep/core/errors";
import { lockAsset } from "@reelkeep/db/assets";
import { insertAudit } from "@reelkeep/db/audits";
import { reopenJob, supersedeJobs } from "@reelkeep/db/job-moves";
import { findJob, isSuperseded, type Job, lockJob } from "@reelkeep/db/jobs";
import type { ServiceContext } from "./context.ts";
import { announce, settleSuperseded } from "./fail-attempt.ts";
import { requireAsset } from "./read-asset.ts";

/**
 * J11: an admin tries a failed or cancelled job again: the next generation, with three more attempts. Whatever still
 * belongs to the old generation is ignored from then on. Asked twice with the same generation, it is done once. A job
 * for an older file of the same video, which was tried again before, makes way.
 *
 * @throws AppError `not-found`, `forbidden`, `conflict` where there is no such generation yet, `job-unfinished`,
 * `job-ended` where it was published, `newer-file`, `asset-blocked`, `source-gone`, `source-changed`, or
 * `storage-unavailable`.
 */
export async function retryJob(
  { db, store }: Pick<ServiceContext, "db" | "store">,
  actor: Actor,
  { actionKey, generation }: { actionKey: string; generation: number },
): Promise<void> {
  const job = await findJob(db, actionKey);
  if (!job) throw new AppError("not-found");
  await requireAsset({ db }, actor, job.assetId, "retry-job");
  const sourceProblem = await judgeSource(store, job);
  await db.transaction(async (tx) => {
    const asset = await lockAsset(tx, job.assetId);
    if (asset?.state !== "active")
      throw new AppError(asset?.state === "blocked" ? "asset-blocked" : "asset-deleted");
    const current = (await lockJob(tx, actionKey))!;
    if (current.generation > generation) return;
    requireEnded(current);
    if (sourceProblem) throw sourceProblem;
    if (await isSuperseded(tx, asset.id, current.sourceRevision)) throw new AppError("newer-file");
    const older = { assetId: asset.id, olderThanRevision: current.sourceRevision };
    await settleSuperseded(tx, await supersedeJobs(tx, older, "superseded"));
    const reopened = await reopenJob(tx, actionKey, generation);
    if (!reopened) throw new AppError("conflict");
    await announce(tx, reopened, 0);
    const { userId: actorId } = actor;
    await insertAudit(tx, { action: "retry", assetId: asset.id, actionKey, actorKind: "user", actorId });
  });
}

function requireEnded({ state }: Job): void {
  if (state === "processing-completed") throw new AppError("job-ended");
  if (state !== "failed" && state !== "cancelled") throw new AppError("job-unfinished");
}

/** What would be processed must still be what was admitted. Asked before anything is locked: storage may be slow. */
async function judgeSource(store: ServiceContext["store"], job: Job): Promise<AppError | null> {
  const object = await store.head(job.sourceKey);
  if (!object) return new AppError("source-gone");
  return object.etag === job.sourceEtag ? null : new AppError("source-changed");
}
