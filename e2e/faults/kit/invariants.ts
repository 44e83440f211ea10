/** What must be true after every fault, judged from the database's rows and the bucket alone. */
import type { JobState } from "@reelkeep/core/job/machine";
import type { Database } from "@reelkeep/db/client";
import { type JobAttempt, listAttempts } from "@reelkeep/db/job-attempts";
import { findJob, type Job } from "@reelkeep/db/jobs";
import {
  listJobs,
  listMessages,
  listPlayableAssets,
  listStuckMessages,
  listVersionsOfJob,
  readKnownObjects,
} from "@reelkeep/db/testing/evidence";
import { expect } from "vitest";
import { findOrphans, verifyStoredVersion } from "./bucket-evidence.ts";
import { poll } from "./poll.ts";
import { workersOf } from "./processes.ts";
import type { FaultStack } from "./stack.ts";

const endStates: readonly JobState[] = ["processing-completed", "failed", "cancelled"];

/** How a job should have ended. */
export interface Settlement {
  readonly state: "processing-completed" | "failed" | "cancelled";
  /** Attempts ever made: claims, those handed back too. */
  readonly attempts: number;
  readonly errorCode?: string;
  /** States of the attempts in order, where it matters. */
  readonly attemptStates?: readonly JobAttempt["state"][];
}

/**
 * Waits until the job has ended and its workers are gone, compares, and checks everything else
 * ({@link expectIntact}). Answers the job.
 */
export async function expectSettled(
  stack: FaultStack,
  actionKey: string,
  expected: Settlement,
  withinSeconds = 120,
): Promise<Job> {
  const job = await waitForJob(stack, actionKey, (row) => endStates.includes(row.state), withinSeconds);
  const attempts = await attemptsInOrder(stack.db, actionKey);
  expect({ state: job.state, attempts: job.attemptCount, errorCode: job.errorCode }).toEqual({
    state: expected.state,
    attempts: expected.attempts,
    errorCode: expected.errorCode ?? null,
  });
  if (expected.attemptStates) expect(attempts.map(({ state }) => state)).toEqual(expected.attemptStates);
  await poll(`no worker of job ${actionKey} is left`, () => workersOf(actionKey).length === 0, 30);
  await expectIntact(stack);
  expect(await findJob(stack.db, actionKey), "an end is for good").toMatchObject({ state: job.state });
  return job;
}

/** Waits until a job's row is as wanted. */
export const waitForJob = (
  { db }: FaultStack,
  actionKey: string,
  isSo: (job: Job) => boolean,
  withinSeconds = 60,
): Promise<Job> =>
  poll(
    `job ${actionKey} is so that ${isSo}`,
    async () => {
      const job = await findJob(db, actionKey);
      return job && isSo(job) && job;
    },
    withinSeconds,
  );

/** Nothing is wrong ({@link findProblems}), and soon no message of an ended job is left. */
export async function expectIntact(stack: FaultStack): Promise<void> {
  expect(await findProblems(stack)).toEqual([]);
  if (!stack.schedule.isPaused())
    await poll(
      "no due message of an ended job is left",
      async () => (await listStuckMessages(stack.db)).length === 0,
      30,
    );
}

/**
 * What must hold for all jobs and the whole bucket at any time: attempts are numbered without gaps, leases never
 * overlap, at most one version per job and only of a completed one, every published version whole in storage, every
 * object somebody's. Answers a sentence for each breach.
 */
export async function findProblems(stack: FaultStack): Promise<string[]> {
  const problems: string[] = [];
  for (const job of await listJobs(stack.db)) problems.push(...(await judgeJob(stack, job)));
  const known = await readKnownObjects(stack.db);
  for (const version of known.versions) problems.push(...(await verifyStoredVersion(stack.store, version)));
  for (const { id, activeVersionId } of await listPlayableAssets(stack.db))
    if (activeVersionId && !known.versions.some((version) => version.id === activeVersionId))
      problems.push(`asset ${id} plays a version that isn't there`);
  return [...problems, ...(await findOrphans(stack))];
}

/** A job's attempts, the first first. */
export const attemptsInOrder = async (db: Database, actionKey: string): Promise<JobAttempt[]> =>
  (await listAttempts(db, actionKey)).toReversed();

async function judgeJob({ db }: FaultStack, job: Job): Promise<string[]> {
  const attempts = await attemptsInOrder(db, job.actionKey);
  const versions = await listVersionsOfJob(db, job.actionKey);
  const problems = [...judgeAttempts(job, attempts)];
  const isCompleted = job.state === "processing-completed";
  if (versions.length !== (isCompleted ? 1 : 0))
    problems.push(`is ${job.state} and has ${versions.length} versions`);
  if (isCompleted && attempts.at(-1)?.id !== versions[0]?.attemptId)
    problems.push("its version isn't that of its last attempt");
  const ends = (await listMessages(db, job.actionKey)).filter(
    ({ kind, generation }) => kind === "job-ended" && generation === job.generation,
  );
  if (ends.length > 1) problems.push(`its end was told ${ends.length} times`);
  return problems.map((problem) => `job ${job.actionKey} ${problem}`);
}

function judgeAttempts(job: Job, attempts: readonly JobAttempt[]): string[] {
  const problems: string[] = [];
  const numbers = attempts.map(({ attemptNumber }) => attemptNumber);
  if (numbers.length !== job.attemptCount || numbers.some((number, index) => number !== index + 1))
    problems.push(`counts ${job.attemptCount} attempts, and they are numbered ${numbers}`);
  attempts.forEach((attempt, index) => {
    const next = attempts[index + 1];
    if (next && !(attempt.endedAt && attempt.endedAt <= next.startedAt))
      problems.push(
        `attempt ${next.attemptNumber} began at ${next.startedAt.toISOString()}, the one before ended at ${attempt.endedAt?.toISOString()}`,
      );
  });
  const running = attempts.filter(({ state }) => state === "running").map(({ id }) => id);
  if (running.join() !== (job.beingProcessedBy ?? ""))
    problems.push(`is held by ${job.beingProcessedBy}, and running are ${running}`);
  const succeeded = attempts.filter(({ state }) => state === "succeeded").length;
  if (succeeded !== (job.state === "processing-completed" ? 1 : 0))
    problems.push(`is ${job.state}, and ${succeeded} attempts succeeded`);
  return problems;
}
