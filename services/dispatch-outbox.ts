import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { AppError, toAppError } from "@reelkeep/core/errors";
import { withAdvisoryLock } from "@reelkeep/db/advisory-lock";
import type { Transaction } from "@reelkeep/db/client";
import { readClock } from "@reelkeep/db/clock";
import { beginLaunch, endLaunch, markWaiting, recordLaunch } from "@reelkeep/db/job-launches";
import { giveUpLaunching } from "@reelkeep/db/job-moves";
import { findJob, type Job } from "@reelkeep/db/jobs";
import {
  markFailed,
  markSent,
  type OutboxMessage,
  postpone,
  takeLaunch,
  takeOutbox,
} from "@reelkeep/db/outbox";
import { closeAsRefused, countOpenLaunches, sumSpentToday } from "@reelkeep/db/worker-launches";
import type { ServiceContext } from "./context.ts";
import { announce } from "./fail-attempt.ts";

type Needs = Pick<ServiceContext, "db" | "jobPolicy" | "newId"> & { readonly fleet: WorkerFleet };

/** Tries that failed for a reason of their own, until the job fails with `launch-failed`. */
const launchTriesMax = 5;
/** A dispatcher that dies leaves its messages to others after this time. */
const lockSeconds = 60;
const batch = 20;

/**
 * J7, J8: carries out the launch intents that are due when it starts, in order of admission, until none is left or
 * the ceiling or the day's budget is reached. Runs right after the commit that wrote one and on a schedule. Answers
 * how many launches it began.
 */
export async function dispatchLaunches(needs: Needs): Promise<number> {
  const dueBy = await readClock(needs.db);
  for (let launched = 0; ; ) {
    const next = await takeNext(needs, dueBy);
    if (!next) return launched;
    if (!next.job) await settleUnwanted(needs, next.message);
    else if (await launch(needs, next.message, next.job)) launched++;
  }
}

/**
 * The first in line, with its launch begun; no job where it may not begin. Dispatchers choose one after another, so
 * that two can't take the last free place, nor a younger job overtake an older one. At the ceiling nothing is taken,
 * so that the line stays as it is. The budget stops launches, never a machine that works: a day may cost more by
 * what the machines of the ceiling still need.
 */
async function takeNext(
  { db, jobPolicy, newId }: Needs,
  dueBy: Date,
): Promise<{ message: OutboxMessage; job: Job | null } | null> {
  return withAdvisoryLock(db, "worker-ceiling", async (tx) => {
    const reason = await whyNone(tx, jobPolicy);
    if (reason) {
      await markWaiting(tx, reason);
      return null;
    }
    const message = await takeLaunch(tx, { dueBy, lockSeconds });
    if (!message) return null;
    const { actionKey, generation } = message;
    return { message, job: await beginLaunch(tx, { actionKey, generation, provisioningToken: newId() }) };
  });
}

/** J8: why no machine may be launched now. */
async function whyNone(
  tx: Transaction,
  { workersMax, dailyBudgetUsd }: Needs["jobPolicy"],
): Promise<"waiting-for-slot" | "waiting-for-budget" | null> {
  if (dailyBudgetUsd !== null && (await sumSpentToday(tx)) >= dailyBudgetUsd) return "waiting-for-budget";
  return (await countOpenLaunches(tx)) >= workersMax ? "waiting-for-slot" : null;
}

async function launch({ db, fleet }: Needs, message: OutboxMessage, job: Job): Promise<boolean> {
  const { actionKey, generation, sourceSizeBytes, sourceDurationSeconds, profile } = job;
  const provisioningToken = job.provisioningToken!;
  const outcome = await fleet
    .launch({
      actionKey,
      generation,
      provisioningToken,
      sourceSizeBytes,
      sourceDurationSeconds,
      profile,
    })
    // No answer isn't a refusal: the machine may be coming. The token stays, and the sweep decides when it is late.
    .catch((error: unknown) => ({ outcome: "unknown" as const, error: toAppError(error, "launch-failed") }));
  switch (outcome.outcome) {
    case "launched":
      await recordLaunch(db, { actionKey, provisioningToken, machine: outcome.machine });
      await markSent(db, message.id);
      return true;
    case "unknown":
      await markSent(db, message.id);
      return false;
    case "refused":
      await settleRefusal(db, message, provisioningToken, outcome);
      return false;
  }
}

/**
 * The job has moved on, so that the message has nothing to do; or not yet: the job backs off for longer than the
 * message, or is being launched. A launch that outlasts its dispatcher's lock may still be refused, and then it is
 * this message that is to be carried out.
 */
async function settleUnwanted({ db }: Needs, message: OutboxMessage): Promise<void> {
  const job = await findJob(db, message.actionKey);
  if (job?.state !== "file-processing-ready" || job.generation !== message.generation)
    return markSent(db, message.id);
  const delaySeconds = job.provisioningToken ? lockSeconds : 1;
  await postpone(db, message.id, { delaySeconds, countsAsTry: false });
}

/** A definite refusal: the launch is over. Throttling and missing capacity pass; anything else counts as a try. */
async function settleRefusal(
  db: Needs["db"],
  message: OutboxMessage,
  provisioningToken: string,
  refusal: { reason: "no-capacity" | "throttled" | "invalid"; message: string },
): Promise<void> {
  const refused = { actionKey: message.actionKey, provisioningToken };
  const passing = refusal.reason !== "invalid";
  await db.transaction(async (tx) => {
    await closeAsRefused(tx, provisioningToken, refusal.message);
    if (passing || message.attemptCount + 1 < launchTriesMax) {
      const reason = passing ? ("waiting-for-capacity" as const) : ("queued" as const);
      await endLaunch(tx, { ...refused, reason, countsAsLaunch: false });
      const delaySeconds = passing ? 15 : 5 * 2 ** message.attemptCount;
      await postpone(tx, message.id, { delaySeconds, countsAsTry: !passing, error: refusal.message });
      return;
    }
    await markFailed(tx, message.id, refusal.message);
    const error = new AppError("launch-failed");
    const job = await giveUpLaunching(tx, refused, { errorCode: error.code, errorMessage: error.message });
    if (job) await announce(tx, job, 0);
  });
}

/**
 * Events of jobs that have ended. There is nobody to tell yet (webhooks, mail and the bus come with X5 and A1), so
 * they are marked as carried out; the log has them.
 */
export async function dispatchEvents(
  { db }: Pick<ServiceContext, "db">,
  tell: (event: OutboxMessage) => Promise<void>,
): Promise<void> {
  for (const message of await takeOutbox(db, { kind: "job-ended", limit: batch, lockSeconds })) {
    await tell(message);
    await markSent(db, message.id);
  }
}
