import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { deletionKind } from "./enums.ts";

/**
 * Objects that are to go. Nothing deletes from the bucket but the sweep that reads this table, so what was
 * deleted, why and when can always be told, and a crash in the middle is only a row that isn't done yet.
 *
 * Each row is looked at twice: once when it is due, and again a day later, because an orphan or a URL that is
 * still valid may have written in between.
 */
export const deletionLedger = pgTable(
  "deletion_ledger",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    kind: deletionKind("kind").notNull(),
    /** A whole key, or a prefix with its final slash; relative to the bucket. */
    target: text("target").notNull(),
    /** For people: `upload-rejected`, `attempt-failed`, … */
    reason: text("reason").notNull(),
    /** When it may be deleted at the earliest. */
    dueAt: instant("due_at").notNull(),
    /** The first deletion; null until then. */
    deletedAt: instant("deleted_at"),
    /** The second look; the row is history once it is set. */
    confirmedAt: instant("confirmed_at"),
    failureCount: integer("failure_count").notNull().default(0),
    lastError: text("last_error"),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("deletion_ledger_open_target").on(t.target).where(sql`${t.confirmedAt} is null`),
    index("deletion_ledger_due").on(t.dueAt).where(sql`${t.confirmedAt} is null`),
  ],
);
