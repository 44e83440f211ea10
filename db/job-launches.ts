/** Launches of waiting jobs: begun, recorded and ended under a token. They change no state. */
import type { WaitingReason } from "@reelkeep/core/job/machine";
import { and, asc, eq, inArray, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import type { Job } from "./jobs.ts";
import { jobs } from "./schema/jobs.ts";
import { outboxMessages } from "./schema/outbox-messages.ts";
import { insertLaunch, type LaunchedMachine, recordMachine } from "./worker-launches.ts";

/**
 * J6: starts a launch. The token is set by this one conditional update, only where no launch is under way, so two
 * dispatchers (or two sweeps) that overlap launch once.
 */
export async function beginLaunch(
  tx: Transaction,
  target: { actionKey: string; generation: number; provisioningToken: string },
): Promise<Job | null> {
  const [job] = await tx
    .update(jobs)
    .set({
      provisioningToken: target.provisioningToken,
      launchedAt: now,
      launchCount: sql`${jobs.launchCount} + 1`,
      waitingReason: "launching",
      updatedAt: now,
    })
    .where(
      and(
        eq(jobs.actionKey, target.actionKey),
        eq(jobs.state, "file-processing-ready"),
        eq(jobs.generation, target.generation),
        isNull(jobs.provisioningToken),
        or(isNull(jobs.retryAt), lte(jobs.retryAt, now)),
      ),
    )
    .returning();
  if (job) await insertLaunch(tx, target);
  return job ?? null;
}

/** The launch that this token began has given a machine; its job knows it too, if it still waits for this launch. */
export async function recordLaunch(
  db: Executor,
  launch: { actionKey: string; provisioningToken: string; machine: LaunchedMachine },
): Promise<void> {
  const { actionKey, provisioningToken, machine } = launch;
  await recordMachine(db, provisioningToken, machine);
  await db
    .update(jobs)
    .set({ machineId: machine.machineId, updatedAt: now })
    .where(and(eq(jobs.actionKey, actionKey), eq(jobs.provisioningToken, provisioningToken)));
}

/** The launch that this token began is known to be dead: the job waits again, for `reason`. */
export async function endLaunch(
  db: Executor,
  launch: { actionKey: string; provisioningToken: string; reason: WaitingReason; countsAsLaunch: boolean },
): Promise<boolean> {
  const rows = await db
    .update(jobs)
    .set({
      provisioningToken: null,
      machineId: null,
      launchedAt: null,
      waitingReason: launch.reason,
      ...(launch.countsAsLaunch ? {} : { launchCount: sql`greatest(${jobs.launchCount} - 1, 0)` }),
      updatedAt: now,
    })
    .where(
      and(
        eq(jobs.actionKey, launch.actionKey),
        eq(jobs.state, "file-processing-ready"),
        eq(jobs.provisioningToken, launch.provisioningToken),
      ),
    )
    .returning({ actionKey: jobs.actionKey });
  return rows.length > 0;
}

/** J8: says of every job whose launch is due why it can't begin; those that say so already stay untouched. */
export async function markWaiting(
  tx: Transaction,
  reason: "waiting-for-slot" | "waiting-for-budget",
): Promise<void> {
  const due = tx
    .select({ actionKey: outboxMessages.actionKey })
    .from(outboxMessages)
    .where(
      and(
        eq(outboxMessages.state, "pending"),
        eq(outboxMessages.kind, "launch-worker"),
        lte(outboxMessages.availableAt, now),
      ),
    );
  await tx
    .update(jobs)
    .set({ waitingReason: reason, updatedAt: now })
    .where(
      and(
        inArray(jobs.actionKey, due),
        eq(jobs.state, "file-processing-ready"),
        isNull(jobs.provisioningToken),
        ne(jobs.waitingReason, reason),
      ),
    );
}

/** Waiting jobs whose launch began over `olderThanSeconds` ago and that nobody claimed. */
export async function findUnclaimedLaunches(
  db: Executor,
  olderThanSeconds: number,
  limit: number,
): Promise<Job[]> {
  return db
    .select()
    .from(jobs)
    .where(
      and(
        eq(jobs.state, "file-processing-ready"),
        isNotNull(jobs.provisioningToken),
        lte(jobs.launchedAt, secondsFromNow(-olderThanSeconds)),
      ),
    )
    .orderBy(asc(jobs.launchedAt))
    .limit(limit);
}
