/** Attempts: the log of every worker's hold on a job. */
import { type AttemptMove, attemptMachine, type Stage } from "@reelkeep/core/job/attempt-machine";
import { and, count, desc, eq, inArray } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Executor, Transaction } from "./client.ts";
import { now } from "./clock.ts";
import { mayMove } from "./move.ts";
import { jobAttempts } from "./schema/job-attempts.ts";

export type JobAttempt = typeof jobAttempts.$inferSelect;
export type NewJobAttempt = Pick<
  JobAttempt,
  "id" | "actionKey" | "attemptNumber" | "generation" | "workerId" | "machineId" | "outputPrefix"
>;

/** Part of a claim, in its transaction. */
export async function insertAttempt(tx: Transaction, attempt: NewJobAttempt): Promise<JobAttempt> {
  const rows = await tx
    .insert(jobAttempts)
    .values({ ...attempt, startedAt: now, lastHeartbeatAt: now })
    .returning();
  return rows[0]!;
}

export async function findAttempt(db: Executor, id: string): Promise<JobAttempt | null> {
  const rows = await db.select().from(jobAttempts).where(eq(jobAttempts.id, id));
  return rows[0] ?? null;
}

/** The attempt that holds a job; null where none does. */
export async function findRunningAttempt(db: Executor, actionKey: string): Promise<JobAttempt | null> {
  const running = and(eq(jobAttempts.actionKey, actionKey), eq(jobAttempts.state, "running"));
  const rows = await db.select().from(jobAttempts).where(running);
  return rows[0] ?? null;
}

/** All attempts of a job, the newest first. */
export const listAttempts = (db: Executor, actionKey: string): Promise<JobAttempt[]> =>
  db
    .select()
    .from(jobAttempts)
    .where(eq(jobAttempts.actionKey, actionKey))
    .orderBy(desc(jobAttempts.attemptNumber));

/** How many attempts of the same job and generation failed or lost their lease; one handed back did neither. */
export async function countFailures(
  db: Executor,
  { actionKey, generation }: Pick<JobAttempt, "actionKey" | "generation">,
): Promise<number> {
  const rows = await db
    .select({ failures: count() })
    .from(jobAttempts)
    .where(
      and(
        eq(jobAttempts.actionKey, actionKey),
        eq(jobAttempts.generation, generation),
        inArray(jobAttempts.state, ["failed", "lease-expired"]),
      ),
    );
  return rows[0]?.failures ?? 0;
}

/** A sign of life, beside the job's heartbeat. */
export async function touchAttempt(
  db: Executor,
  id: string,
  at: { stage: Stage; completedRenditions: string[] },
): Promise<void> {
  await db
    .update(jobAttempts)
    .set({ ...at, lastHeartbeatAt: now })
    .where(and(eq(jobAttempts.id, id), eq(jobAttempts.state, "running")));
}

/** Notes what makes a running attempt's pictures. */
export async function recordProcessor(db: Executor, id: string, processor: string): Promise<void> {
  await db
    .update(jobAttempts)
    .set({ processor })
    .where(and(eq(jobAttempts.id, id), eq(jobAttempts.state, "running")));
}

/** Ends a running attempt once; null where it had ended already. */
export async function endAttempt(
  tx: Transaction,
  name: AttemptMove,
  id: string,
  facts: PgUpdateSetSource<typeof jobAttempts> = {},
): Promise<JobAttempt | null> {
  const rows = await tx
    .update(jobAttempts)
    .set({ ...facts, state: attemptMachine.transitions[name].to, endedAt: now })
    .where(mayMove(attemptMachine, name, jobAttempts.state, eq(jobAttempts.id, id)))
    .returning();
  return rows[0] ?? null;
}
