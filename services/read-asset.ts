import { type Actor, type AssetAction, type AssetFacts, mayDoWith } from "@reelkeep/core/access/policy";
import { AppError } from "@reelkeep/core/errors";
import { findLibraryRow, type LibraryReader, type LibraryRow } from "@reelkeep/db/library";
import type { ServiceContext } from "./context.ts";

/** How `actor` reads the library. */
export const readerOf = (actor: Actor): LibraryReader => ({
  userId: actor.userId,
  seesAll: actor.role === "admin",
});

/** What the policy needs to know of a row. */
export const factsOf = (row: LibraryRow): AssetFacts => ({
  ownerId: row.asset.ownerId,
  state: row.asset.state,
  invited: row.invited,
});

/**
 * The asset, if `actor` may do `action` with it.
 *
 * @throws AppError `forbidden` where they may see it but not do this; else `not-found`, so that nobody learns from
 * the answer whether something exists.
 */
export async function requireAsset(
  { db }: Pick<ServiceContext, "db">,
  actor: Actor,
  assetId: string,
  action: AssetAction,
): Promise<LibraryRow> {
  const row = await findLibraryRow(db, readerOf(actor), assetId);
  if (!row) throw new AppError("not-found");
  const facts = factsOf(row);
  if (mayDoWith(actor, action, facts)) return row;
  const sees = mayDoWith(actor, "watch", facts) || mayDoWith(actor, "see-details", facts);
  throw new AppError(sees ? "forbidden" : "not-found");
}
