/** Uploads: queries and moves. */
import { type UploadMove, uploadMachine } from "@reelkeep/core/upload/machine";
import { and, asc, eq, isNull, lt, sql, sum } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Executor, Transaction } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import { mayMove } from "./move.ts";
import { assets } from "./schema/assets.ts";
import { deletionLedger } from "./schema/deletion-ledger.ts";
import { uploads } from "./schema/uploads.ts";

export type Upload = typeof uploads.$inferSelect;
export type NewUpload = Pick<
  Upload,
  | "actionKey"
  | "assetId"
  | "userId"
  | "key"
  | "filename"
  | "contentType"
  | "sizeBytes"
  | "checksumSha256"
  | "method"
  | "partSizeBytes"
>;

/** Null where the actionKey is taken. */
export async function insertUpload(tx: Transaction, upload: NewUpload): Promise<Upload | null> {
  const rows = await tx
    .insert(uploads)
    .values({ ...upload, createdAt: now, updatedAt: now, lastSignedAt: now })
    .onConflictDoNothing()
    .returning();
  return rows[0] ?? null;
}

export async function findUpload(db: Executor, actionKey: string): Promise<Upload | null> {
  const rows = await db.select().from(uploads).where(eq(uploads.actionKey, actionKey));
  return rows[0] ?? null;
}

async function move(
  db: Executor,
  name: UploadMove,
  actionKey: string,
  set: PgUpdateSetSource<typeof uploads>,
): Promise<Upload | null> {
  const rows = await db
    .update(uploads)
    .set({ ...set, state: uploadMachine.transitions[name].to, updatedAt: now, endedAt: now })
    .where(mayMove(uploadMachine, name, uploads.state, eq(uploads.actionKey, actionKey)))
    .returning();
  return rows[0] ?? null;
}

/** U5: the object was verified. `etag` is what every later read must match. */
export const admit = (tx: Transaction, actionKey: string, facts: { etag: string; sourceRevision: number }) =>
  move(tx, "admit", actionKey, facts);

/** U6: the object failed admission. */
export const reject = (
  tx: Transaction,
  actionKey: string,
  error: { errorCode: string; errorMessage: string; etag: string | null },
) => move(tx, "reject", actionKey, error);

/** U7: abandoned or given up. */
export const expire = (tx: Transaction, actionKey: string, errorCode: string, errorMessage: string) =>
  move(tx, "expire", actionKey, { errorCode, errorMessage });

/** U7: ends what is still allowed to send a file for an asset that is deleted. The asset's row must be locked. */
export async function expireUploadsOf(
  tx: Transaction,
  assetId: string,
  error: { errorCode: string; errorMessage: string },
): Promise<void> {
  await tx
    .update(uploads)
    .set({ ...error, state: uploadMachine.transitions.expire.to, updatedAt: now, endedAt: now })
    .where(mayMove(uploadMachine, "expire", uploads.state, eq(uploads.assetId, assetId)));
}

/** A request was signed: a sign of life. Null where the upload has ended meanwhile. */
export async function touchUpload(db: Executor, actionKey: string): Promise<Upload | null> {
  const rows = await db
    .update(uploads)
    .set({ lastSignedAt: now })
    .where(and(eq(uploads.actionKey, actionKey), eq(uploads.state, "url-created")))
    .returning();
  return rows[0] ?? null;
}

/** Binds storage's id of the multipart upload to the row, once; null where another is bound already. */
export async function bindMultipartUpload(
  db: Executor,
  actionKey: string,
  multipartUploadId: string,
): Promise<Upload | null> {
  const rows = await db
    .update(uploads)
    .set({ multipartUploadId, updatedAt: now })
    .where(
      and(
        eq(uploads.actionKey, actionKey),
        eq(uploads.state, "url-created"),
        isNull(uploads.multipartUploadId),
      ),
    )
    .returning();
  return rows[0] ?? null;
}

/** U7: open uploads without a sign of life, the quietest first. */
export async function findAbandonedUploads(
  db: Executor,
  quietSeconds: number,
  limit: number,
): Promise<Upload[]> {
  return db
    .select()
    .from(uploads)
    .where(and(eq(uploads.state, "url-created"), lt(uploads.lastSignedAt, secondsFromNow(-quietSeconds))))
    .orderBy(asc(uploads.lastSignedAt))
    .limit(limit);
}

/**
 * What counts against a person's limits. `bytes`: announced and stored sources that weren't refused or given up; those
 * of a deleted asset until the ledger has deleted them. `open`: uploads that are still allowed to send.
 *
 * Asked with the person's row locked, so it reads what is theirs alone: a join, or an `exists`, may be answered by
 * reading all assets and the whole ledger; one row's value is looked up.
 */
export async function sumUploads(db: Executor, userId: string): Promise<{ bytes: number; open: number }> {
  const assetState = db.select({ state: assets.state }).from(assets).where(eq(assets.id, uploads.assetId));
  const awaitsDeletion = db
    .select({ awaits: isNull(deletionLedger.deletedAt) })
    .from(deletionLedger)
    .where(and(eq(deletionLedger.target, uploads.key), isNull(deletionLedger.confirmedAt)));
  const rows = await db
    .select({
      bytes: sum(uploads.sizeBytes),
      open: sql<number>`(count(*) filter (where ${uploads.state} = 'url-created'))::int`,
    })
    .from(uploads)
    .where(
      and(
        eq(uploads.userId, userId),
        sql`${uploads.state} in ('url-created', 'file-uploaded')`,
        sql`((${assetState}) <> 'deleted' or (${awaitsDeletion}))`,
      ),
    );
  return { bytes: Number(rows[0]?.bytes ?? 0), open: rows[0]?.open ?? 0 };
}

/** The keys of every source that an asset has or may still get. */
export async function listSourceKeys(tx: Transaction, assetId: string): Promise<string[]> {
  const rows = await tx.select({ key: uploads.key }).from(uploads).where(eq(uploads.assetId, assetId));
  return rows.map(({ key }) => key);
}
