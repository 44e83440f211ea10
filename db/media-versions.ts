/** Published versions. */
import { and, eq, exists, getTableColumns, gt } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import { mediaVersions } from "./schema/media-versions.ts";
import { publicationAudits } from "./schema/publication-audits.ts";

export type MediaVersion = typeof mediaVersions.$inferSelect;
export type NewMediaVersion = Omit<MediaVersion, "verifiedAt" | "publishedAt">;

/** A version without its inventory, which grows with the film: thousands of rows that only verification reads. */
export type VersionFacts = Omit<MediaVersion, "inventory">;

const { inventory: _inventory, ...facts } = getTableColumns(mediaVersions);
/** The columns of `VersionFacts`. */
export const versionFacts = facts;

/** Part of publication, in its transaction. */
export async function insertVersion(tx: Transaction, version: NewMediaVersion): Promise<MediaVersion> {
  const rows = await tx
    .insert(mediaVersions)
    .values({ ...version, verifiedAt: now, publishedAt: now })
    .returning();
  return rows[0]!;
}

/** The version that an attempt published; null where it published none. */
export async function findVersionOfAttempt(db: Executor, attemptId: string): Promise<MediaVersion | null> {
  const rows = await db.select().from(mediaVersions).where(eq(mediaVersions.attemptId, attemptId));
  return rows[0] ?? null;
}

/** The version of that asset that another replaced within the last `withinSeconds`; null where none is that one. */
export async function findReplacedVersion(
  db: Executor,
  replaced: { assetId: string; versionId: string; withinSeconds: number },
): Promise<VersionFacts | null> {
  const { assetId, versionId, withinSeconds } = replaced;
  const recently = db
    .select({ id: publicationAudits.id })
    .from(publicationAudits)
    .where(
      and(
        eq(publicationAudits.assetId, assetId),
        eq(publicationAudits.beforeVersionId, versionId),
        gt(publicationAudits.at, secondsFromNow(-withinSeconds)),
      ),
    );
  const rows = await db
    .select(versionFacts)
    .from(mediaVersions)
    .where(and(eq(mediaVersions.id, versionId), eq(mediaVersions.assetId, assetId), exists(recently)));
  return rows[0] ?? null;
}

/** The prefixes of every version of an asset. */
export async function listVersionPrefixes(tx: Transaction, assetId: string): Promise<string[]> {
  const rows = await tx
    .select({ prefix: mediaVersions.prefix })
    .from(mediaVersions)
    .where(eq(mediaVersions.assetId, assetId));
  return rows.map(({ prefix }) => prefix);
}
