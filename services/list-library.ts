import { type Actor, mayDoWith } from "@reelkeep/core/access/policy";
import type { AssetChange, AssetList, AssetListQuery, AssetSummary } from "@reelkeep/core/api/assets";
import { AppError } from "@reelkeep/core/errors";
import { changeAsset as change } from "@reelkeep/db/assets";
import { countLibrary, findLibraryRow, type LibraryRow, listLibrary } from "@reelkeep/db/library";
import { shownPoster } from "./choose-poster.ts";
import type { ServiceContext } from "./context.ts";
import { describeFailure } from "./describe-failure.ts";
import { createPosterSigner, type PosterSigner } from "./grant-posters.ts";
import { readCursor, writeCursor } from "./page-cursor.ts";
import { factsOf, readerOf, requireAsset } from "./read-asset.ts";

type Needs = Pick<ServiceContext, "db" | "mediaSigner">;

const pageSize = 48;

/** X1: one page of what `actor` may see, newest first, with how much there is under each filter. */
export async function listAssets(
  { db, mediaSigner }: Needs,
  actor: Actor,
  query: AssetListQuery,
): Promise<AssetList> {
  const reader = readerOf(actor);
  const [rows, counts] = await Promise.all([
    listLibrary(db, reader, {
      filter: query.filter,
      search: query.q,
      cursor: query.cursor ? readCursor(query.cursor) : null,
      limit: pageSize + 1,
    }),
    countLibrary(db, reader),
  ]);
  const page = rows.slice(0, pageSize);
  const last = page.at(-1);
  const sign = createPosterSigner(mediaSigner, actor);
  return {
    assets: page.map((row) => toSummary(row, actor, sign)),
    counts,
    nextCursor:
      rows.length > pageSize && last ? writeCursor({ at: last.asset.createdAt, id: last.asset.id }) : null,
  };
}

/** One asset, for whoever may watch it or see its details. @throws AppError `not-found` for everybody else. */
export async function getAsset(
  { db, mediaSigner }: Needs,
  actor: Actor,
  assetId: string,
): Promise<AssetSummary> {
  const row = await findLibraryRow(db, readerOf(actor), assetId);
  if (!row || !(mayDoWith(actor, "watch", factsOf(row)) || mayDoWith(actor, "see-details", factsOf(row))))
    throw new AppError("not-found");
  return toSummary(row, actor, createPosterSigner(mediaSigner, actor));
}

/** Changes title or description. @throws AppError `not-found`, `forbidden`, `asset-blocked`. */
export async function changeAsset(
  needs: Needs,
  actor: Actor,
  assetId: string,
  fields: AssetChange,
): Promise<AssetSummary> {
  await requireAsset(needs, actor, assetId, "edit");
  if (!(await change(needs.db, assetId, fields))) throw new AppError("asset-blocked");
  return getAsset(needs, actor, assetId);
}

function toSummary(row: LibraryRow, actor: Actor, sign: PosterSigner): AssetSummary {
  const { asset, version, upload, job } = row;
  const seesDetails = mayDoWith(actor, "see-details", factsOf(row));
  return {
    id: asset.id,
    title: asset.title,
    description: asset.description,
    state: asset.state,
    owner: { id: asset.ownerId, name: row.ownerName },
    access: asset.ownerId === actor.userId ? "owner" : actor.role === "admin" ? "admin" : "invited",
    createdAt: asset.createdAt.toISOString(),
    version: version && {
      id: version.id,
      versionNumber: version.versionNumber,
      durationSeconds: version.durationSeconds,
      width: version.width,
      height: version.height,
      sizeBytes: version.sizeBytes,
      hasAudio: version.hasAudio,
      publishedAt: version.publishedAt.toISOString(),
    },
    posterUrl: version && asset.state === "active" ? sign(asset.ownerId, shownPoster(asset, version)) : null,
    posters:
      version && asset.state === "active" && mayDoWith(actor, "edit", factsOf(row))
        ? version.posterSuggestions.map((posterName) => ({
            name: posterName,
            url: sign(asset.ownerId, { prefix: version.prefix, posterName })!,
            isShown: posterName === shownPoster(asset, version).posterName,
          }))
        : [],
    latest:
      upload && seesDetails
        ? {
            actionKey: upload.actionKey,
            status: job?.state ?? upload.state,
            fraction: job?.state === "processing-completed" ? 1 : (job?.progressFraction ?? 0),
            failure: describeFailure(upload, job),
          }
        : null,
  };
}
