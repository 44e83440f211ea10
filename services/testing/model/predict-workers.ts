/** What workers do. Only the attempt that holds a lease that lasts writes. */

import { afterFailure, closeAttempt, end, isOvertaken, type Steps, seconds, wait } from "./consequences.ts";
import { type Action, type Answer, type Model, type ModelJob, modelPolicy as policy } from "./job-model.ts";

const holds = (m: Model, name: string): ModelJob | null => {
  const job = m.rows.jobs[m.rows.attempts[name]!.job]!;
  return job.holder === name && job.leaseUntil! > m.now ? job : null;
};

export function* claim(m: Model, request: Extract<Action, { do: "claim" }>): Steps {
  const { attempts, jobs } = m.rows;
  const job = jobs[request.job]!;
  const isFree =
    job.state === "file-processing-ready" &&
    job.generation === request.generation &&
    job.attemptCount < job.attemptLimit &&
    !attempts[request.attempt];
  if (!isFree) {
    yield;
    return whyLost(job, request, request.attempt in attempts);
  }
  Object.assign(job, {
    state: "job-received",
    waitingReason: null,
    holder: request.attempt,
    leaseUntil: m.now + seconds(policy.leaseSeconds),
    attemptCount: job.attemptCount + 1,
    launchCount: 0,
    retryAt: null,
    errorCode: null,
    machine: request.machine ?? job.machine,
  });
  attempts[request.attempt] = {
    job: request.job,
    number: job.attemptCount,
    generation: job.generation,
    machine: request.machine,
    state: "running",
    startedAt: m.now,
    endedAt: null,
    errorCode: null,
  };
  return "claimed";
}

function whyLost(job: ModelJob, request: { attempt: string; generation: number }, isUsed: boolean): Answer {
  if (job.holder === request.attempt) return "claimed";
  if (job.generation !== request.generation) return "stale-generation";
  if (job.state === "job-received") return "held";
  if (job.state === "processing-completed") return "finished";
  if (job.state !== "file-processing-ready") return job.state;
  return isUsed ? "attempt-ended" : "out-of-attempts";
}

export function heartbeat(m: Model, attempt: string): Answer {
  const job = holds(m, attempt);
  if (!job) return "superseded";
  job.leaseUntil = m.now + seconds(policy.leaseSeconds);
  return job.cancelRequested ? "cancel" : "continue";
}

export function fail(m: Model, attempt: string, retryable: boolean): Answer {
  const job = holds(m, attempt);
  if (!job) return "lease-lost";
  if (job.cancelRequested) return obey(m, attempt) ? "cancelled" : "lease-lost";
  const errorCode = retryable ? "encoder-failed" : "undecodable-video";
  return afterFailure(m, attempt, { state: "failed", errorCode, retryable });
}

export function handBack(m: Model, attempt: string): Answer {
  const job = holds(m, attempt);
  if (!job) return false;
  if (job.cancelRequested) return obey(m, attempt);
  job.attemptLimit++;
  closeAttempt(m, attempt, "handed-back", null);
  wait(m, m.rows.attempts[attempt]!.job, "queued", 0);
  return true;
}

export function obey(m: Model, attempt: string): boolean {
  const job = holds(m, attempt);
  if (!job) return false;
  closeAttempt(m, attempt, "cancelled", null);
  end(m, m.rows.attempts[attempt]!.job, "cancelled", job.errorCode);
  return true;
}

export function publish(m: Model, name: string): Answer {
  const attempt = m.rows.attempts[name]!;
  if (attempt.state === "succeeded") return "published";
  const job = m.rows.jobs[attempt.job]!;
  const asset = m.rows.assets[job.asset]!;
  if (asset.state !== "active") return `asset-${asset.state}`;
  if (job.generation !== attempt.generation) return "lease-lost";
  if (isOvertaken(m, job)) return "superseded";
  if (job.holder === name && job.cancelRequested) return "cancelled";
  if (!holds(m, name)) return "lease-lost";
  job.cancelRequested = false;
  Object.assign(attempt, { state: "succeeded", endedAt: m.now });
  asset.versions.push(name);
  asset.active = name;
  end(m, attempt.job, "processing-completed", null);
  return "published";
}

export function write(m: Model, attempt: string): Answer {
  if (!m.outputs.includes(attempt)) m.outputs.push(attempt);
  return null;
}
