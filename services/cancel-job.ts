import type { Actor } from "@reelkeep/core/access/policy";
import { AppError } from "@reelkeep/core/errors";
import { lockAsset } from "@reelkeep/db/assets";
import { insertAudit } from "@reelkeep/db/audits";
import { cancelWaitingJob, requestCancel } from "@reelkeep/db/job-moves";
import { findJob, lockJob } from "@reelkeep/db/jobs";
import type { ServiceContext } from "./context.ts";
import { announce } from "./fail-attempt.ts";
import { requireAsset } from "./read-asset.ts";

/**
 * J10: cancels a job: at once while it waits; while it is worked on, its worker is told at the next heartbeat, and
 * publication refuses it. Cancelling again changes nothing more.
 *
 * @throws AppError `not-found` for whoever may not see it or where there is no job yet, `forbidden`, `job-ended`
 * where it completed or failed first.
 */
export async function cancelJob(
  { db }: Pick<ServiceContext, "db">,
  actor: Actor,
  actionKey: string,
): Promise<void> {
  const assetId = (await findJob(db, actionKey))?.assetId;
  if (!assetId) throw new AppError("not-found");
  await requireAsset({ db }, actor, assetId, "cancel-job");
  await db.transaction(async (tx) => {
    // First, because the audit row's foreign key would lock it after the job: a deadlock with a block at once.
    await lockAsset(tx, assetId);
    const job = await lockJob(tx, actionKey);
    const { userId: actorId } = actor;
    switch (job?.state) {
      case "file-processing-ready": {
        const cancelled = await cancelWaitingJob(tx, actionKey, actorId);
        if (!cancelled) return;
        await announce(tx, cancelled, 0);
        break;
      }
      case "job-received":
        if (!(await requestCancel(tx, actionKey, actorId))) return;
        break;
      case "cancelled":
        return;
      default:
        throw new AppError("job-ended");
    }
    await insertAudit(tx, { action: "cancel", assetId, actionKey, actorKind: "user", actorId });
  });
}
