/** What is to be deleted from the bucket, and what was. */
import { and, asc, eq, exists, inArray, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import { assets } from "./schema/assets.ts";
import { deletionLedger } from "./schema/deletion-ledger.ts";
import { jobAttempts } from "./schema/job-attempts.ts";
import { mediaVersions } from "./schema/media-versions.ts";
import { uploads } from "./schema/uploads.ts";

export type LedgerEntry = typeof deletionLedger.$inferSelect;

/**
 * Enters a target. An open entry for the same one is brought forward and begins again, so that what was written
 * after its first look gets two looks of its own.
 */
export async function enterDeletion(
  db: Executor,
  entry: { kind: "object" | "prefix"; target: string; reason: string; delaySeconds: number },
): Promise<void> {
  await db
    .insert(deletionLedger)
    .values({
      kind: entry.kind,
      target: entry.target,
      reason: entry.reason,
      dueAt: secondsFromNow(entry.delaySeconds),
      createdAt: now,
    })
    .onConflictDoUpdate({
      target: deletionLedger.target,
      targetWhere: isNull(deletionLedger.confirmedAt),
      set: { dueAt: sql`least(${deletionLedger.dueAt}, excluded.due_at)`, deletedAt: null },
    });
}

/**
 * Takes the next due entry for `holdSeconds`, in which no other sweep sees it; null where none is due. A sweep that
 * dies in the middle leaves an entry that is simply due again.
 */
export async function takeDueDeletion(db: Executor, holdSeconds: number): Promise<LedgerEntry | null> {
  const due = db
    .select({ id: deletionLedger.id })
    .from(deletionLedger)
    .where(and(isNull(deletionLedger.confirmedAt), lte(deletionLedger.dueAt, now)))
    .orderBy(asc(deletionLedger.dueAt))
    .limit(1)
    .for("update", { skipLocked: true });
  const rows = await db
    .update(deletionLedger)
    .set({ dueAt: secondsFromNow(holdSeconds) })
    .where(eq(deletionLedger.id, due))
    .returning();
  return rows[0] ?? null;
}

/**
 * Whether something still needs this target: a published version at or below it, a running attempt that writes there,
 * or an upload that is open or admitted with that key; versions and uploads of a deleted asset need nothing. What
 * isn't needed can't become needed again: only a running attempt publishes, and an attempt that ended never runs
 * again.
 */
export async function isStillNeeded(db: Executor, entry: LedgerEntry): Promise<boolean> {
  // What is above the target is looked up, not searched for: the index knows whole prefixes.
  const below = (column: typeof mediaVersions.prefix | typeof jobAttempts.outputPrefix) =>
    or(sql`starts_with(${column}, ${entry.target})`, inArray(column, foldersAbove(entry.target)));
  const rows = await db.execute<{ needed: boolean }>(sql`
    select ${or(
      exists(
        db
          .select({ x: sql`1` })
          .from(mediaVersions)
          .innerJoin(assets, eq(assets.id, mediaVersions.assetId))
          .where(and(ne(assets.state, "deleted"), below(mediaVersions.prefix))),
      ),
      exists(
        db
          .select({ x: sql`1` })
          .from(jobAttempts)
          .where(and(eq(jobAttempts.state, "running"), below(jobAttempts.outputPrefix))),
      ),
      exists(
        db
          .select({ x: sql`1` })
          .from(uploads)
          .innerJoin(assets, eq(assets.id, uploads.assetId))
          .where(
            and(
              ne(assets.state, "deleted"),
              sql`${uploads.state} in ('url-created', 'file-uploaded')`,
              entry.kind === "object"
                ? eq(uploads.key, entry.target)
                : sql`starts_with(${uploads.key}, ${entry.target})`,
            ),
          ),
      ),
    )} as needed`);
  return rows.rows[0]?.needed ?? true;
}

/** `a/b/c.ts` and `a/b/` have `a/` and `a/b/` above them; a prefix counts as one of its own. */
const foldersAbove = (target: string): string[] =>
  [...target.matchAll(/\//g)].map(({ index }) => target.slice(0, index + 1));

/**
 * Deleted: look again after `secondLookSeconds`, or done where this was the second look. An entry that began again
 * meanwhile isn't done: it stays due after its hold.
 */
export async function markDeleted(
  db: Executor,
  entry: LedgerEntry,
  secondLookSeconds: number,
): Promise<void> {
  await db
    .update(deletionLedger)
    .set(
      entry.deletedAt
        ? { confirmedAt: now, lastError: null }
        : { deletedAt: now, dueAt: secondsFromNow(secondLookSeconds), lastError: null },
    )
    .where(
      and(
        eq(deletionLedger.id, entry.id),
        entry.deletedAt ? isNotNull(deletionLedger.deletedAt) : isNull(deletionLedger.deletedAt),
      ),
    );
}

/** Something needs it: it is off the list, with the reason told. */
export async function dropDeletion(db: Executor, entry: LedgerEntry): Promise<void> {
  await db
    .update(deletionLedger)
    .set({ confirmedAt: now, lastError: "kept: still needed" })
    .where(eq(deletionLedger.id, entry.id));
}

/** Storage refused: tried again with growing delay. */
export async function postponeDeletion(db: Executor, entry: LedgerEntry, error: string): Promise<void> {
  await db
    .update(deletionLedger)
    .set({
      failureCount: sql`${deletionLedger.failureCount} + 1`,
      lastError: error,
      dueAt: secondsFromNow(Math.min(3600, 10 * 2 ** entry.failureCount)),
    })
    .where(eq(deletionLedger.id, entry.id));
}
