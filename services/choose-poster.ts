import type { Actor } from "@reelkeep/core/access/policy";
import type { PosterChoice } from "@reelkeep/core/api/assets";
import { AppError } from "@reelkeep/core/errors";
import { type Asset, choosePoster as choose, lockAsset } from "@reelkeep/db/assets";
import { insertAudit } from "@reelkeep/db/audits";
import type { VersionFacts } from "@reelkeep/db/media-versions";
import type { ServiceContext } from "./context.ts";
import { requireAsset } from "./read-asset.ts";

/** The picture that stands for a version of its asset: the one that somebody chose for it, else its first suggestion. */
export const shownPoster = (
  asset: Pick<Asset, "posterVersionId" | "posterName">,
  version: Pick<VersionFacts, "id" | "prefix" | "posterName">,
): Pick<VersionFacts, "prefix" | "posterName"> => ({
  prefix: version.prefix,
  posterName: (asset.posterVersionId === version.id ? asset.posterName : null) ?? version.posterName,
});

/**
 * M11: makes one of the suggestions of the version that plays stand for the video. Made twice, it is told once in the
 * audit log.
 *
 * @throws AppError `not-found`, `forbidden`; `conflict` when another version plays by now; `invalid-request` for what
 * was never suggested.
 */
export async function choosePoster(
  { db }: Pick<ServiceContext, "db">,
  actor: Actor,
  assetId: string,
  { versionId, name }: PosterChoice,
): Promise<void> {
  const { version } = await requireAsset({ db }, actor, assetId, "edit");
  if (version?.id !== versionId) throw new AppError("conflict");
  if (!version.posterSuggestions.includes(name)) throw new AppError("invalid-request");
  await db.transaction(async (tx) => {
    const asset = await lockAsset(tx, assetId);
    if (asset?.state !== "active") throw new AppError("not-found");
    if (asset.activeVersionId !== versionId) throw new AppError("conflict");
    if (shownPoster(asset, version).posterName === name) return;
    await choose(tx, assetId, { versionId, name });
    await insertAudit(tx, {
      action: "choose-poster",
      ...{ assetId, actorKind: "user", actorId: actor.userId },
      ...{ beforeVersionId: versionId, afterVersionId: versionId },
    });
  });
}
