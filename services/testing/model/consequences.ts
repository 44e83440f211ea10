/** What follows from where a job goes, whoever moved it. */
import type { JobState, WaitingReason } from "@reelkeep/core/job/machine";
import { attemptCleanupDelaySeconds, retryDelaySeconds } from "@reelkeep/core/job/policy";
import {
  type Answer,
  type Model,
  type ModelAttempt,
  type ModelJob,
  modelPolicy as policy,
} from "./job-model.ts";

/** The steps of an action; what it is answered with comes last. `blocked`: it can't go on before another has. */
export type Steps<Result = Answer> = Generator<"blocked" | undefined, Result>;
export const seconds = (count: number) => count * 1000;
export const refused = (code: string) => ({ refused: code });
const jobsOf = (m: Model, asset: string) =>
  Object.entries(m.rows.jobs).filter(([, job]) => job.asset === asset);
export const isUnfinished = ({ state }: ModelJob) =>
  state === "file-processing-ready" || state === "job-received";
export const unfinishedOf = (m: Model, asset: string) =>
  jobsOf(m, asset)
    .filter(([, job]) => isUnfinished(job))
    .sort(([, a], [, b]) => a.revision - b.revision)
    .map(([name]) => name);

export function wait(m: Model, name: string, reason: WaitingReason, delaySeconds: number): void {
  const job = m.rows.jobs[name]!;
  letGo(job);
  job.state = "file-processing-ready";
  job.waitingReason = reason;
  intend(m, name, delaySeconds);
}

export function end(m: Model, name: string, state: JobState, code: string | null): void {
  const job = m.rows.jobs[name]!;
  letGo(job);
  job.state = state;
  job.waitingReason = null;
  job.endedAt = m.now;
  m.rows.events.push({ job: name, generation: job.generation, state, code });
}

function letGo(job: ModelJob): void {
  job.holder = job.leaseUntil = job.launch = job.machine = job.launchedAt = null;
}

export function intend(m: Model, job: string, delaySeconds: number): void {
  const { generation } = m.rows.jobs[job]!;
  const availableAt = m.now + seconds(delaySeconds);
  m.rows.messages.push({ job, generation, availableAt, lockedUntil: null, tries: 0 });
}

export function closeAttempt(
  m: Model,
  name: string,
  state: ModelAttempt["state"],
  errorCode: string | null,
): void {
  Object.assign(m.rows.attempts[name]!, { state, errorCode, endedAt: m.now });
  enterDeletion(m, name, attemptCleanupDelaySeconds);
}

export function enterDeletion(m: Model, target: string, delaySeconds: number): void {
  const dueAt = m.now + seconds(delaySeconds);
  const open = m.rows.deletions.find((each) => each.target === target && each.confirmedAt === null);
  if (open) Object.assign(open, { dueAt: Math.min(open.dueAt, dueAt), deletedAt: null });
  else m.rows.deletions.push({ target, dueAt, deletedAt: null, confirmedAt: null, kept: false });
}

export function supersede(m: Model, names: readonly string[], cancelledBy: string): void {
  for (const name of names) {
    const job = m.rows.jobs[name]!;
    const { holder } = job;
    job.cancelledBy = cancelledBy;
    if (holder) closeAttempt(m, holder, "superseded", null);
    end(m, name, "cancelled", job.errorCode);
  }
}

/** Whether a newer file of the asset is published or still on its way. */
export const isOvertaken = (m: Model, job: ModelJob): boolean =>
  jobsOf(m, job.asset).some(
    ([, other]) =>
      other.revision > job.revision && (isUnfinished(other) || other.state === "processing-completed"),
  );

/** Another try after a delay that grows with the generation's failures, or the end. */
export function afterFailure(
  m: Model,
  name: string,
  failure: { state: "failed" | "lease-expired"; errorCode: string; retryable: boolean },
): "retry-later" | "failed" {
  const attempt = m.rows.attempts[name]!;
  const job = m.rows.jobs[attempt.job]!;
  const failures = Object.values(m.rows.attempts).filter(
    ({ job: of, generation, state }) =>
      of === attempt.job &&
      generation === attempt.generation &&
      (state === "failed" || state === "lease-expired"),
  );
  closeAttempt(m, name, failure.state, failure.errorCode);
  job.errorCode = failure.errorCode;
  if (!failure.retryable || job.attemptCount >= job.attemptLimit) {
    end(m, attempt.job, "failed", failure.errorCode);
    return "failed";
  }
  const delaySeconds = retryDelaySeconds(failures.length + 1, policy);
  wait(m, attempt.job, "retry-backoff", delaySeconds);
  job.retryAt = m.now + seconds(delaySeconds);
  return "retry-later";
}
