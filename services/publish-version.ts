import { activateVersion, lockAsset } from "@reelkeep/db/assets";
import { insertAudit } from "@reelkeep/db/audits";
import { endAttempt, findAttempt } from "@reelkeep/db/job-attempts";
import { completeJob } from "@reelkeep/db/job-moves";
import { findJob, isSuperseded, lockJob, type Progress } from "@reelkeep/db/jobs";
import {
  findVersionOfAttempt,
  insertVersion,
  type MediaVersion,
  type NewMediaVersion,
} from "@reelkeep/db/media-versions";
import { writeOutbox } from "@reelkeep/db/outbox";
import type { ServiceContext } from "./context.ts";

/** What a worker verified and wants to publish. */
export type VerifiedOutput = Omit<
  NewMediaVersion,
  "id" | "assetId" | "versionNumber" | "sourceRevision" | "attemptId" | "prefix" | "profile"
> & { readonly progress: Pick<Progress, "renditions" | "processByResolution"> };

/** Published (or found published by this same attempt), or why not. */
export type PublishOutcome =
  | { readonly outcome: "published"; readonly version: MediaVersion }
  | { readonly outcome: "lease-lost" | "cancelled" | "superseded" | "asset-blocked" | "asset-deleted" };

/**
 * P1: publication, one transaction without network. Lock order: asset, job, attempt. It refuses a lost lease, a
 * requested cancellation, a revision that a newer one has overtaken and an asset that isn't active; then the
 * version, the asset's pointer, the job, the attempt, the audit row and the event are written together.
 *
 * The attempt's id is its idempotency key: a worker that lost the answer to its COMMIT asks again and gets the same
 * version.
 */
export async function publishVersion(
  { db, newId }: Pick<ServiceContext, "db" | "newId">,
  lease: { actionKey: string; attemptId: string },
  output: VerifiedOutput,
): Promise<PublishOutcome> {
  return db.transaction(async (tx): Promise<PublishOutcome> => {
    const attempt = await findAttempt(tx, lease.attemptId);
    if (!attempt) return { outcome: "lease-lost" };

    // A job never changes its asset, so that may be read before anything is locked.
    const assetId = (await findJob(tx, lease.actionKey))?.assetId;
    const asset = assetId ? await lockAsset(tx, assetId) : null;
    if (!asset) return { outcome: "lease-lost" };
    // This call's answer may have been lost, or a twin of it published while it waited for the lock.
    const published = await findVersionOfAttempt(tx, lease.attemptId);
    if (published) return { outcome: "published", version: published };
    if (asset.state !== "active")
      return { outcome: asset.state === "blocked" ? "asset-blocked" : "asset-deleted" };
    const job = await lockJob(tx, lease.actionKey);
    if (!job || job.generation !== attempt.generation) return { outcome: "lease-lost" };
    if (await isSuperseded(tx, asset.id, job.sourceRevision)) return { outcome: "superseded" };
    if (job.beingProcessedBy === lease.attemptId && job.cancelRequestedAt) return { outcome: "cancelled" };

    const { progress, ...facts } = output;
    if (!(await completeJob(tx, lease, progress))) return { outcome: "lease-lost" };
    await endAttempt(tx, "succeed", lease.attemptId, {
      stage: "publish",
      completedRenditions: Object.keys(progress.processByResolution),
    });
    const version = await insertVersion(tx, {
      ...facts,
      id: newId(),
      assetId: asset.id,
      versionNumber: asset.versionCount + 1,
      sourceRevision: job.sourceRevision,
      attemptId: lease.attemptId,
      profile: job.profile,
      prefix: attempt.outputPrefix,
    });
    await activateVersion(tx, asset.id, version);
    await insertAudit(tx, {
      assetId: asset.id,
      action: "publish",
      actorKind: "worker",
      actorId: lease.attemptId,
      beforeVersionId: asset.activeVersionId,
      afterVersionId: version.id,
    });
    await writeOutbox(tx, {
      kind: "job-ended",
      actionKey: job.actionKey,
      generation: job.generation,
      payload: { state: "processing-completed", versionId: version.id },
    });
    return { outcome: "published", version };
  });
}
