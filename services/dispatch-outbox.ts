import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { AppError, toAppError } from "@reelkeep/core/errors";
import { withAdvisoryLock } from "@reelkeep/db/advisory-lock";
import {
  beginLaunch,
  countAliveWorkers,
  endLaunch,
  findJob,
  giveUpLaunching,
  recordLaunch,
  setWaitingReason,
} from "@reelkeep/db/jobs";
import { markFailed, markSent, type OutboxMessage, postpone, takeOutbox } from "@reelkeep/db/outbox";
import type { ServiceContext } from "./context.ts";
import { announce } from "./fail-attempt.ts";

type Needs = Pick<ServiceContext, "db" | "jobPolicy" | "newId"> & { readonly fleet: WorkerFleet };

/** Tries that failed for a reason of their own, until the job fails with `launch-failed`. */
const launchTriesMax = 5;
/** A dispatcher that dies leaves its messages to others after this time. */
const lockSeconds = 60;
const batch = 20;

/**
 * J7: carries out launch intents that are due, oldest first, until none is due or the ceiling is reached. Runs right
 * after the commit that wrote one and on a schedule. Answers how many launches it began.
 */
export async function dispatchLaunches(needs: Needs): Promise<number> {
  let launched = 0;
  for (;;) {
    const messages = await takeOutbox(needs.db, { kind: "launch-worker", limit: batch, lockSeconds });
    for (const message of messages) if (await dispatchLaunch(needs, message)) launched++;
    if (messages.length < batch) return launched;
  }
}

async function dispatchLaunch(needs: Needs, message: OutboxMessage): Promise<boolean> {
  const { db, fleet } = needs;
  const { actionKey, generation } = message;
  const begun = await beginWithinCeiling(needs, message);
  if (begun !== "begun") {
    if (begun === "ceiling") {
      await setWaitingReason(db, actionKey, "waiting-for-slot");
      await postpone(db, message.id, { delaySeconds: 2, countsAsTry: false });
    } else await settleUnwanted(needs, message);
    return false;
  }
  const job = await findJob(db, actionKey);
  const provisioningToken = job?.provisioningToken;
  if (!job || !provisioningToken) {
    await markSent(db, message.id);
    return false;
  }
  const outcome = await fleet
    .launch({ actionKey, generation, provisioningToken, sourceSizeBytes: job.sourceSizeBytes })
    // No answer isn't a refusal: the machine may be coming. The token stays, and the sweep decides when it is late.
    .catch((error: unknown) => ({ outcome: "unknown" as const, error: toAppError(error, "launch-failed") }));
  switch (outcome.outcome) {
    case "launched":
      await recordLaunch(db, { actionKey, provisioningToken, machineId: outcome.machineId });
      await markSent(db, message.id);
      return true;
    case "unknown":
      await markSent(db, message.id);
      return false;
    case "refused":
      await settleRefusal(needs, message, provisioningToken, outcome);
      return false;
  }
}

/** Two dispatchers count one after the other, so that both can't take the last free place. */
async function beginWithinCeiling(
  { db, jobPolicy, newId }: Needs,
  { actionKey, generation }: OutboxMessage,
): Promise<"begun" | "ceiling" | "unwanted"> {
  return withAdvisoryLock(db, "worker-ceiling", async (tx) => {
    if ((await countAliveWorkers(tx)) >= jobPolicy.workersMax) return "ceiling";
    return (await beginLaunch(tx, { actionKey, generation, provisioningToken: newId() }))
      ? "begun"
      : "unwanted";
  });
}

/** The job has moved on, or backs off for longer than the message: the message has nothing (or not yet) to do. */
async function settleUnwanted({ db }: Needs, message: OutboxMessage): Promise<void> {
  const job = await findJob(db, message.actionKey);
  const stillWaits =
    job?.state === "file-processing-ready" && job.generation === message.generation && !job.provisioningToken;
  if (stillWaits) await postpone(db, message.id, { delaySeconds: 1, countsAsTry: false });
  else await markSent(db, message.id);
}

/** A definite refusal: the launch is over. Throttling and missing capacity pass; anything else counts as a try. */
async function settleRefusal(
  { db }: Needs,
  message: OutboxMessage,
  provisioningToken: string,
  refusal: { reason: "no-capacity" | "throttled" | "invalid"; message: string },
): Promise<void> {
  const { actionKey, generation } = message;
  const passing = refusal.reason !== "invalid";
  await db.transaction(async (tx) => {
    await endLaunch(tx, {
      actionKey,
      provisioningToken,
      reason: passing ? "waiting-for-capacity" : "queued",
      countsAsLaunch: false,
    });
    if (passing || message.attemptCount + 1 < launchTriesMax) {
      const delaySeconds = passing ? 15 : 5 * 2 ** message.attemptCount;
      await postpone(tx, message.id, { delaySeconds, countsAsTry: !passing, error: refusal.message });
      return;
    }
    await markFailed(tx, message.id, refusal.message);
    const error = new AppError("launch-failed");
    const job = await giveUpLaunching(tx, actionKey, generation, {
      errorCode: error.code,
      errorMessage: error.message,
    });
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
