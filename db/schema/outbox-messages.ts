import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { outboxKind, outboxState } from "./enums.ts";
import { jobs } from "./jobs.ts";

/**
 * Intents, written in the transaction of the state that causes them: what is committed will be carried out, what
 * is rolled back never was. A dispatcher takes due rows with SKIP LOCKED, marks them as taken until
 * `locked_until` and acts outside the transaction; a dispatcher that died leaves a lock that simply ends.
 */
export const outboxMessages = pgTable(
  "outbox_messages",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    kind: outboxKind("kind").notNull(),
    actionKey: uuid("action_key")
      .notNull()
      .references(() => jobs.actionKey),
    /** The job's at the time of writing; a message of an older generation is dropped. */
    generation: integer("generation").notNull(),
    payload: jsonb("payload").$type<Record<string, unknown>>().notNull().default({}),
    state: outboxState("state").notNull().default("pending"),
    /** Tries that failed for a reason of their own; throttling, missing capacity and the ceiling don't count. */
    attemptCount: integer("attempt_count").notNull().default(0),
    availableAt: instant("available_at").notNull(),
    lockedUntil: instant("locked_until"),
    lastError: text("last_error"),
    createdAt: instant("created_at").notNull(),
    endedAt: instant("ended_at"),
  },
  (t) => [
    index("outbox_due").on(t.availableAt, t.createdAt).where(sql`${t.state} = 'pending'`),
    index("outbox_job").on(t.actionKey),
  ],
);
