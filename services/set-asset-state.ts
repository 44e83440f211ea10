import type { Actor } from "@reelkeep/core/access/policy";
import type { AssetMove } from "@reelkeep/core/asset/machine";
import { AppError, errorInfo } from "@reelkeep/core/errors";
import { assetCleanupDelaySeconds } from "@reelkeep/core/job/policy";
import { lockAsset, moveAsset } from "@reelkeep/db/assets";
import { insertAudit } from "@reelkeep/db/audits";
import { enterDeletion } from "@reelkeep/db/deletion-ledger";
import { type MadeWayFor, supersedeJobs } from "@reelkeep/db/job-moves";
import { listVersionPrefixes } from "@reelkeep/db/media-versions";
import { expireUploadsOf, listSourceKeys } from "@reelkeep/db/uploads";
import type { ServiceContext } from "./context.ts";
import { settleSuperseded } from "./fail-attempt.ts";
import { requireAsset } from "./read-asset.ts";

/** Work on what nobody may watch would only cost machines. */
const makeWay: Readonly<Record<AssetMove, MadeWayFor | null>> = {
  block: "asset-blocked",
  unblock: null,
  delete: "asset-deleted",
};

/**
 * Blocks a video (no grant, no publication), allows it again, or deletes it: what plays ends with the grants that
 * viewers hold. Blocking and deleting cancel its unfinished jobs (J10); what was cancelled by a block can be tried
 * again after it. Deleting ends its open uploads and enters its objects for deletion. Made twice, it is done once,
 * and told once in the audit log.
 *
 * @throws AppError `not-found`, `forbidden`.
 */
export async function setAssetState(
  { db }: Pick<ServiceContext, "db">,
  actor: Actor,
  assetId: string,
  move: AssetMove,
): Promise<void> {
  await requireAsset({ db }, actor, assetId, move === "delete" ? "delete" : "block");
  await db.transaction(async (tx) => {
    if (!(await lockAsset(tx, assetId))) throw new AppError("not-found");
    if (!(await moveAsset(tx, assetId, move))) return;
    await insertAudit(tx, { action: move, assetId, actorKind: "user", actorId: actor.userId });
    const cause = makeWay[move];
    if (cause) await settleSuperseded(tx, await supersedeJobs(tx, { assetId }, cause));
    if (move !== "delete") return;
    await expireUploadsOf(tx, assetId, {
      errorCode: "asset-deleted",
      errorMessage: errorInfo("asset-deleted").message,
    });
    const entry = { reason: "asset-deleted", delaySeconds: assetCleanupDelaySeconds };
    for (const target of await listSourceKeys(tx, assetId))
      await enterDeletion(tx, { kind: "object", target, ...entry });
    for (const target of await listVersionPrefixes(tx, assetId))
      await enterDeletion(tx, { kind: "prefix", target, ...entry });
  });
}
