/** Published versions and the audit of what changed them. */
import { eq } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now } from "./clock.ts";
import { mediaVersions } from "./schema/media-versions.ts";
import { publicationAudits } from "./schema/publication-audits.ts";

export type MediaVersion = typeof mediaVersions.$inferSelect;
export type NewMediaVersion = Omit<MediaVersion, "verifiedAt" | "publishedAt">;

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

export type PublicationAudit = typeof publicationAudits.$inferSelect;

/** Written with the change that it tells of. */
export async function insertAudit(
  tx: Transaction,
  audit: Pick<
    PublicationAudit,
    "assetId" | "action" | "actorKind" | "actorId" | "beforeVersionId" | "afterVersionId"
  > & {
    details?: Record<string, unknown>;
  },
): Promise<void> {
  await tx.insert(publicationAudits).values({ ...audit, at: now });
}

export const listAudits = (db: Executor, assetId: string): Promise<PublicationAudit[]> =>
  db
    .select()
    .from(publicationAudits)
    .where(eq(publicationAudits.assetId, assetId))
    .orderBy(publicationAudits.at);
