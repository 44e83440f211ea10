/** The outbox: intents that were committed with the state that caused them. */
import type { OutboxKind } from "@reelkeep/core/outbox/machine";
import { outboxMachine } from "@reelkeep/core/outbox/machine";
import { and, asc, eq, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import { mayMove } from "./move.ts";
import { jobs } from "./schema/jobs.ts";
import { outboxMessages } from "./schema/outbox-messages.ts";

export type OutboxMessage = typeof outboxMessages.$inferSelect;

/** The channel that wakes a listening dispatcher once the transaction commits. A hint: schedules repair a lost one. */
export const outboxChannel = "reelkeep_outbox";

/** Writes an intent into the transaction that causes it. `delaySeconds`: not before then. */
export async function writeOutbox(
  tx: Transaction,
  message: {
    kind: OutboxKind;
    actionKey: string;
    generation: number;
    payload?: Record<string, unknown>;
    delaySeconds?: number;
  },
): Promise<void> {
  await tx.insert(outboxMessages).values({
    kind: message.kind,
    actionKey: message.actionKey,
    generation: message.generation,
    payload: message.payload ?? {},
    availableAt: secondsFromNow(message.delaySeconds ?? 0),
    createdAt: now,
  });
  await tx.execute(sql`select pg_notify(${outboxChannel}, ${message.kind})`);
}

const isTakeable = () =>
  and(
    eq(outboxMessages.state, "pending"),
    or(isNull(outboxMessages.lockedUntil), lte(outboxMessages.lockedUntil, now)),
  );

/**
 * Takes for `lockSeconds` the launch whose job was admitted first, of those that were due at `dueBy`; null where
 * none was. A dispatcher that keeps to one `dueBy` never meets a message again that it has postponed.
 */
export async function takeLaunch(
  tx: Transaction,
  take: { dueBy: Date; lockSeconds: number },
): Promise<OutboxMessage | null> {
  const first = tx
    .select({ id: outboxMessages.id })
    .from(outboxMessages)
    .innerJoin(jobs, eq(jobs.actionKey, outboxMessages.actionKey))
    .where(
      and(
        isTakeable(),
        eq(outboxMessages.kind, "launch-worker"),
        lte(outboxMessages.availableAt, take.dueBy),
      ),
    )
    .orderBy(asc(jobs.admittedAt), asc(jobs.actionKey), asc(outboxMessages.createdAt))
    .limit(1)
    .for("update", { of: outboxMessages, skipLocked: true });
  const rows = await tx
    .update(outboxMessages)
    .set({ lockedUntil: secondsFromNow(take.lockSeconds) })
    .where(eq(outboxMessages.id, first))
    .returning();
  return rows[0] ?? null;
}

/**
 * Takes due messages of one kind, oldest first, for `lockSeconds`. Two dispatchers never take the same one; a lock
 * left by a dispatcher that died ends by itself.
 */
export async function takeOutbox(
  db: Database,
  take: { kind: OutboxKind; limit: number; lockSeconds: number },
): Promise<OutboxMessage[]> {
  return db.transaction(async (tx) => {
    const due = await tx
      .select({ id: outboxMessages.id })
      .from(outboxMessages)
      .where(and(isTakeable(), eq(outboxMessages.kind, take.kind), lte(outboxMessages.availableAt, now)))
      .orderBy(asc(outboxMessages.createdAt))
      .limit(take.limit)
      .for("update", { skipLocked: true });
    if (due.length === 0) return [];
    const taken = await tx
      .update(outboxMessages)
      .set({ lockedUntil: secondsFromNow(take.lockSeconds) })
      .where(
        inArray(
          outboxMessages.id,
          due.map(({ id }) => id),
        ),
      )
      .returning();
    return taken.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  });
}

/** The intent was carried out, or needs nothing any more. */
export async function markSent(db: Executor, id: string): Promise<void> {
  await db
    .update(outboxMessages)
    .set({ state: outboxMachine.transitions.send.to, lockedUntil: null, endedAt: now })
    .where(mayMove(outboxMachine, "send", outboxMessages.state, eq(outboxMessages.id, id)));
}

/** Looks at it again later. `countsAsTry`: false for throttling and missing capacity. */
export async function postpone(
  db: Executor,
  id: string,
  later: { delaySeconds: number; countsAsTry: boolean; error?: string },
): Promise<void> {
  await db
    .update(outboxMessages)
    .set({
      lockedUntil: null,
      availableAt: secondsFromNow(later.delaySeconds),
      ...(later.countsAsTry ? { attemptCount: sql`${outboxMessages.attemptCount} + 1` } : {}),
      ...(later.error === undefined ? {} : { lastError: later.error }),
    })
    .where(and(eq(outboxMessages.id, id), eq(outboxMessages.state, "pending")));
}

/** Its tries are used up. */
export async function markFailed(tx: Executor, id: string, error: string): Promise<void> {
  await tx
    .update(outboxMessages)
    .set({
      state: outboxMachine.transitions["give-up"].to,
      lockedUntil: null,
      lastError: error,
      attemptCount: sql`${outboxMessages.attemptCount} + 1`,
      endedAt: now,
    })
    .where(mayMove(outboxMachine, "give-up", outboxMessages.state, eq(outboxMessages.id, id)));
}
