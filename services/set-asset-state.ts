import type { Actor } from "@reelkeep/core/access/policy";
import type { AssetMove } from "@reelkeep/core/asset/machine";
import { AppError } from "@reelkeep/core/errors";
import { assetCleanupDelaySeconds } from "@reelkeep/core/job/policy";
import { lockAsset, moveAsset } from "@reelkeep/db/assets";
import { enterDeletion } from "@reelkeep/db/deletion-ledger";
import { supersedeJobs } from "@reelkeep/db/job-moves";
import { listVersionPrefixes } from "@reelkeep/db/media-versions";
import { listSourceKeys } from "@reelkeep/db/uploads";
import type { ServiceContext } from "./context.ts";
import { settleSuperseded } from "./fail-attempt.ts";
import { requireAsset } from "./read-asset.ts";

/**
 * Blocks a video (no grant, no publication), allows it again, or deletes it: what plays ends with the grants that
 * viewers hold, its unfinished jobs are cancelled (J10), and its objects are entered for deletion. Made twice, it is
 * done once.
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
    if (move !== "delete") return;
    await settleSuperseded(tx, await supersedeJobs(tx, { assetId }, "asset-deleted"));
    const entry = { reason: "asset-deleted", delaySeconds: assetCleanupDelaySeconds };
    for (const target of await listSourceKeys(tx, assetId))
      await enterDeletion(tx, { kind: "object", target, ...entry });
    for (const target of await listVersionPrefixes(tx, assetId))
      await enterDeletion(tx, { kind: "prefix", target, ...entry });
  });
}
