/**
 * The services' rules. Each action is a series of atomic steps; at a `yield` another action may step in, as it may
 * between two transactions of a service.
 */
import type { AssetMove } from "@reelkeep/core/asset/machine";
import type { JobState, WaitingReason } from "@reelkeep/core/job/machine";
import {
  assetCleanupDelaySeconds,
  attemptCleanupDelaySeconds,
  attemptsPerGeneration,
  retryDelaySeconds,
  secondLookSeconds,
} from "@reelkeep/core/job/policy";
import type { uploadStates } from "@reelkeep/core/upload/machine";
import {
  type Action,
  type Answer,
  type FleetAnswer,
  type Model,
  type ModelAttempt,
  type ModelJob,
  type ModelMessage,
  modelPolicy as policy,
} from "./job-model.ts";

/** The steps of an action; what it is answered with comes last. `blocked`: it can't go on before another has. */
export type Steps<Result = Answer> = Generator<"blocked" | undefined, Result>;

/** What the model says of an action. It changes the model step by step. */
export function* predict(m: Model, action: Action): Steps {
  switch (action.do) {
    case "admit":
      return yield* admit(m, action.upload, action.asset);
    case "dispatch":
      return yield* dispatch(m, action.answers);
    case "claim":
      return yield* claim(m, action);
    case "heartbeat":
      return heartbeat(m, action.attempt);
    case "fail":
      return fail(m, action.attempt, action.retryable);
    case "hand-back":
      return handBack(m, action.attempt);
    case "obey":
      return obey(m, action.attempt);
    case "publish":
      return publish(m, action.attempt);
    case "write":
      return write(m, action.attempt);
    case "recover":
      return yield* recover(m);
    case "reap":
      return yield* reap(m, action.betweenLaunches);
    case "clean":
      return clean(m);
    case "machine-dies":
      m.rows.machines = m.rows.machines.filter((machine) => machine !== action.launch);
      return null;
    case "machine-comes":
      m.late = m.late.filter((launch) => launch !== action.launch);
      m.rows.machines.push(action.launch);
      return null;
    case "cancel":
      return yield* cancel(m, action);
    case "retry":
      return yield* retry(m, action);
    default:
      return yield* moveAsset(m, action);
  }
}

const seconds = (count: number) => count * 1000;
const refused = (code: string) => ({ refused: code });
const jobsOf = (m: Model, asset: string) =>
  Object.entries(m.rows.jobs).filter(([, job]) => job.asset === asset);
const isUnfinished = ({ state }: ModelJob) => state === "file-processing-ready" || state === "job-received";
const unfinishedOf = (m: Model, asset: string) =>
  jobsOf(m, asset)
    .filter(([, job]) => isUnfinished(job))
    .sort(([, a], [, b]) => a.revision - b.revision)
    .map(([name]) => name);

// What follows from where a job goes.

function wait(m: Model, name: string, reason: WaitingReason, delaySeconds: number): void {
  const job = m.rows.jobs[name]!;
  letGo(job);
  job.state = "file-processing-ready";
  job.waitingReason = reason;
  intend(m, name, delaySeconds);
}

function end(m: Model, name: string, state: JobState, code: string | null): void {
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

function intend(m: Model, job: string, delaySeconds: number): void {
  const { generation } = m.rows.jobs[job]!;
  const availableAt = m.now + seconds(delaySeconds);
  m.rows.messages.push({ job, generation, availableAt, lockedUntil: null, tries: 0 });
}

function closeAttempt(m: Model, name: string, state: ModelAttempt["state"], errorCode: string | null): void {
  Object.assign(m.rows.attempts[name]!, { state, errorCode, endedAt: m.now });
  enterDeletion(m, name, attemptCleanupDelaySeconds);
}

function enterDeletion(m: Model, target: string, delaySeconds: number): void {
  const dueAt = m.now + seconds(delaySeconds);
  const open = m.rows.deletions.find((each) => each.target === target && each.confirmedAt === null);
  if (open) Object.assign(open, { dueAt: Math.min(open.dueAt, dueAt), deletedAt: null });
  else m.rows.deletions.push({ target, dueAt, deletedAt: null, confirmedAt: null, kept: false });
}

function supersede(m: Model, names: readonly string[], cancelledBy: string): void {
  for (const name of names) {
    const job = m.rows.jobs[name]!;
    const { holder } = job;
    job.cancelledBy = cancelledBy;
    if (holder) closeAttempt(m, holder, "superseded", null);
    end(m, name, "cancelled", job.errorCode);
  }
}

// Uploads.

function* admit(m: Model, upload: string, assetName: string): Steps {
  const asset = m.rows.assets[assetName]!;
  const row = { asset: assetName, state: "url-created" as (typeof uploadStates)[number] };
  m.rows.uploads[upload] = row;
  yield;
  if (asset.state !== "active") {
    row.state = "rejected";
    enterDeletion(m, upload, 0);
    return "rejected";
  }
  row.state = "file-uploaded";
  asset.sourceRevision++;
  supersede(m, unfinishedOf(m, assetName), "superseded");
  m.rows.jobs[upload] = {
    asset: assetName,
    revision: asset.sourceRevision,
    admittedAt: m.now,
    state: "file-processing-ready",
    generation: 1,
    attemptCount: 0,
    attemptLimit: attemptsPerGeneration,
    holder: null,
    leaseUntil: null,
    cancelRequested: false,
    cancelledBy: null,
    waitingReason: "queued",
    retryAt: null,
    launch: null,
    machine: null,
    launchedAt: null,
    launchCount: 0,
    errorCode: null,
    endedAt: null,
  };
  intend(m, upload, 0);
  return "file-uploaded";
}

// Workers. Only the attempt that holds a lease that lasts writes.

const holds = (m: Model, name: string): ModelJob | null => {
  const job = m.rows.jobs[m.rows.attempts[name]!.job]!;
  return job.holder === name && job.leaseUntil! > m.now ? job : null;
};

function* claim(m: Model, request: Extract<Action, { do: "claim" }>): Steps {
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

function heartbeat(m: Model, attempt: string): Answer {
  const job = holds(m, attempt);
  if (!job) return "superseded";
  job.leaseUntil = m.now + seconds(policy.leaseSeconds);
  return job.cancelRequested ? "cancel" : "continue";
}

function fail(m: Model, attempt: string, retryable: boolean): Answer {
  const job = holds(m, attempt);
  if (!job) return "lease-lost";
  if (job.cancelRequested) return obey(m, attempt) ? "cancelled" : "lease-lost";
  const errorCode = retryable ? "encoder-failed" : "undecodable-video";
  return afterFailure(m, attempt, { state: "failed", errorCode, retryable });
}

/** Another try after a delay that grows with the generation's failures, or the end. */
function afterFailure(
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

function handBack(m: Model, attempt: string): Answer {
  const job = holds(m, attempt);
  if (!job) return false;
  if (job.cancelRequested) return obey(m, attempt);
  job.attemptLimit++;
  closeAttempt(m, attempt, "handed-back", null);
  wait(m, m.rows.attempts[attempt]!.job, "queued", 0);
  return true;
}

function obey(m: Model, attempt: string): boolean {
  const job = holds(m, attempt);
  if (!job) return false;
  closeAttempt(m, attempt, "cancelled", null);
  end(m, m.rows.attempts[attempt]!.job, "cancelled", job.errorCode);
  return true;
}

function publish(m: Model, name: string): Answer {
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

/** Whether a newer file of the asset is published or still on its way. */
const isOvertaken = (m: Model, job: ModelJob): boolean =>
  jobsOf(m, job.asset).some(
    ([, other]) =>
      other.revision > job.revision && (isUnfinished(other) || other.state === "processing-completed"),
  );

function write(m: Model, attempt: string): Answer {
  if (!m.outputs.includes(attempt)) m.outputs.push(attempt);
  return null;
}

// The dispatcher and the sweeps.

function* dispatch(m: Model, answers: readonly FleetAnswer[]): Steps {
  let asked = 0;
  for (let launched = 0; ; ) {
    while (m.isChoosing) yield "blocked";
    m.isChoosing = true;
    const message = yield* takeNext(m);
    const launch = message && beginLaunch(m, message);
    m.isChoosing = false;
    if (!message) return launched;
    yield;
    if (!launch) {
      settleUnwanted(m, message);
      yield;
      continue;
    }
    const answer = answers[asked++] ?? "launched";
    if (answer === "launched" || answer === "lost-machine") m.rows.machines.push(launch);
    yield;
    switch (answer) {
      case "dispatcher-dies":
        m.late.push(launch);
        return "died";
      case "launched":
        yield* recordLaunch(m, launch);
        launched++;
        break;
      case "no-capacity":
      case "throttled":
      case "invalid":
        settleRefusal(m, message, launch, answer !== "invalid");
        yield;
        continue;
      case "lost":
        m.late.push(launch);
    }
    settle(m, message);
    yield;
  }
}

const settle = (m: Model, message: ModelMessage) => {
  m.rows.messages = m.rows.messages.filter((each) => each !== message);
};

/** The first in line, unless as many machines as may be are there, or may be. Jobs go on moving meanwhile. */
function* takeNext(m: Model): Steps<ModelMessage | null> {
  const open = Object.values(m.rows.launches).filter(({ goneAt }) => goneAt === null);
  yield;
  const due = m.rows.messages.filter(({ availableAt }) => availableAt <= m.now);
  if (open.length >= policy.workersMax) {
    for (const { job } of due.map((message) => ({ job: m.rows.jobs[message.job]! })))
      if (job.state === "file-processing-ready" && !job.launch) job.waitingReason = "waiting-for-slot";
    return null;
  }
  const [first] = due
    .filter(({ lockedUntil }) => lockedUntil === null || lockedUntil <= m.now)
    .sort(
      (a, b) => m.rows.jobs[a.job]!.admittedAt - m.rows.jobs[b.job]!.admittedAt || a.job.localeCompare(b.job),
    );
  if (first) first.lockedUntil = m.now + seconds(60);
  yield;
  return first ?? null;
}

function beginLaunch(m: Model, message: ModelMessage): string | null {
  const job = m.rows.jobs[message.job]!;
  const { launches } = m.rows;
  if (job.state !== "file-processing-ready" || job.launch || job.generation !== message.generation)
    return null;
  if (job.retryAt !== null && job.retryAt > m.now) return null;
  const before = Object.values(launches).filter((launch) => launch.job === message.job).length;
  job.launch = `${message.job}/launch${before + 1}`;
  job.launchedAt = m.now;
  job.launchCount++;
  job.waitingReason = "launching";
  launches[job.launch] = {
    job: message.job,
    generation: job.generation,
    beganAt: m.now,
    machine: null,
    unwantedSince: null,
    goneAt: null,
    refused: false,
  };
  return job.launch;
}

function settleUnwanted(m: Model, message: ModelMessage): void {
  const job = m.rows.jobs[message.job]!;
  if (job.state === "file-processing-ready" && job.generation === message.generation && !job.launch)
    Object.assign(message, { availableAt: m.now + seconds(1), lockedUntil: null });
  else settle(m, message);
}

function settleRefusal(m: Model, message: ModelMessage, launch: string, passes: boolean): void {
  close(m, launch, true);
  const job = m.rows.jobs[message.job]!;
  const isItsLaunch = job.state === "file-processing-ready" && job.launch === launch;
  if (passes || message.tries + 1 < 5) {
    if (isItsLaunch) endLaunch(job, passes ? "waiting-for-capacity" : "queued", false);
    message.availableAt = m.now + seconds(passes ? 15 : 5 * 2 ** message.tries);
    message.lockedUntil = null;
    if (!passes) message.tries++;
    return;
  }
  settle(m, message);
  if (isItsLaunch) giveUp(m, message.job, "launch-failed");
}

function endLaunch(job: ModelJob, reason: WaitingReason, countsAsLaunch: boolean): void {
  job.launch = job.machine = job.launchedAt = null;
  job.waitingReason = reason;
  if (!countsAsLaunch) job.launchCount = Math.max(0, job.launchCount - 1);
}

function giveUp(m: Model, name: string, code: string): void {
  m.rows.jobs[name]!.errorCode = code;
  end(m, name, "failed", code);
}

function close(m: Model, name: string, wasRefused: boolean): void {
  const launch = m.rows.launches[name]!;
  if (launch.goneAt === null) Object.assign(launch, { goneAt: m.now, refused: wasRefused });
}

function* recordLaunch(m: Model, name: string): Steps<void> {
  const launch = m.rows.launches[name]!;
  if (launch.goneAt === null) launch.machine = name;
  yield;
  const job = m.rows.jobs[launch.job]!;
  if (job.launch === name) job.machine = name;
  yield;
}

function* recover(m: Model): Steps {
  const { jobs } = m.rows;
  const names = Object.keys(jobs);
  let expiredLeases = 0;
  const isExpired = (job: ModelJob) => job.holder !== null && job.leaseUntil! <= m.now;
  for (const name of names.filter((each) => isExpired(jobs[each]!))) {
    yield;
    if (isExpired(jobs[name]!)) {
      recoverLease(m, name);
      expiredLeases++;
    }
  }
  yield;
  let relaunches = 0;
  const isLate = (job: ModelJob) =>
    job.state === "file-processing-ready" &&
    job.launch &&
    job.launchedAt! <= m.now - seconds(policy.launchSeconds);
  for (const name of names.filter((each) => isLate(jobs[each]!)))
    if (yield* repeatLaunch(m, jobs[name]!.launch!)) relaunches++;
  return [expiredLeases, relaunches];
}

function recoverLease(m: Model, name: string): void {
  const job = m.rows.jobs[name]!;
  if (!job.cancelRequested) {
    afterFailure(m, job.holder!, { state: "lease-expired", errorCode: "worker-lost", retryable: true });
    return;
  }
  closeAttempt(m, job.holder!, "lease-expired", "worker-lost");
  end(m, name, "cancelled", job.errorCode);
}

/** A launch that gave no worker: its machine is ended, then there is another, or after the third none. */
function* repeatLaunch(m: Model, name: string): Steps<boolean> {
  const { job: jobName } = m.rows.launches[name]!;
  const job = m.rows.jobs[jobName]!;
  const isAwaited = () => job.state === "file-processing-ready" && job.launch === name;
  yield;
  if (!isAwaited()) return false;
  const { machine, launchCount } = job;
  yield;
  m.rows.machines = m.rows.machines.filter((each) => each !== name && each !== machine);
  yield;
  if (!isAwaited()) return false;
  if (launchCount >= policy.launchesMax) giveUp(m, jobName, "worker-never-started");
  else {
    endLaunch(job, "queued", true);
    intend(m, jobName, 0);
  }
  return true;
}

function* reap(m: Model, betweenLaunches: boolean): Steps {
  const { launches, jobs } = m.rows;
  const counts = { gone: 0, relaunches: 0, ended: 0 };
  const isAwaited = (name: string) => {
    const job = jobs[launches[name]!.job]!;
    return job.state === "file-processing-ready" && job.launch === name;
  };
  const isWanted = (name: string) => {
    const job = jobs[launches[name]!.job]!;
    const works =
      job.state === "job-received" && job.machine === launches[name]!.machine && job.leaseUntil! > m.now;
    return isAwaited(name) || works;
  };
  const open = Object.keys(launches)
    .filter((name) => launches[name]!.goneAt === null)
    .sort((a, b) => launches[a]!.beganAt - launches[b]!.beganAt)
    .map((name) => ({
      name,
      seen: { ...launches[name]! },
      wanted: isWanted(name),
      awaited: isAwaited(name),
    }));
  yield;
  const machines = [...m.rows.machines];
  for (const { name, seen, wanted, awaited } of open) {
    yield;
    if (machines.includes(name)) {
      if (!seen.machine) yield* recordLaunch(m, name);
      const launch = launches[name]!;
      if (wanted !== (seen.unwantedSince === null) && launch.goneAt === null)
        launch.unwantedSince = wanted ? null : (launch.unwantedSince ?? m.now);
      const idle = seen.unwantedSince === null ? 0 : m.now - seen.unwantedSince;
      if (wanted || idle < seconds(policy.idleMachineSeconds)) continue;
      yield;
      if (launch.goneAt === null && isWanted(name)) continue;
      yield;
      m.rows.machines = m.rows.machines.filter((machine) => machine !== name);
      counts.ended++;
      continue;
    }
    const isCertain = seen.machine !== null || m.now - seen.beganAt >= seconds(policy.launchSeconds);
    if (!betweenLaunches && !isCertain) continue;
    close(m, name, false);
    counts.gone++;
    if (awaited && (yield* repeatLaunch(m, name))) counts.relaunches++;
  }
  for (const name of machines.filter((machine) => !open.some((each) => each.name === machine))) {
    yield;
    Object.assign(launches[name]!, { goneAt: null, refused: false });
  }
  return [counts.gone, counts.relaunches, counts.ended];
}

function clean(m: Model): Answer {
  const due = m.rows.deletions.filter((each) => each.confirmedAt === null && each.dueAt <= m.now);
  let deleted = 0;
  for (const entry of due) {
    if (isNeeded(m, entry.target)) {
      Object.assign(entry, { dueAt: m.now + seconds(600), confirmedAt: m.now, kept: true });
      continue;
    }
    deleted++;
    m.outputs = m.outputs.filter((attempt) => attempt !== entry.target);
    if (entry.deletedAt === null)
      Object.assign(entry, { deletedAt: m.now, dueAt: m.now + seconds(secondLookSeconds) });
    else Object.assign(entry, { confirmedAt: m.now, dueAt: m.now + seconds(600) });
  }
  return [deleted, [...m.outputs].sort()];
}

/** A version and a source are needed while their asset isn't deleted, an attempt's output while it runs. */
function isNeeded(m: Model, target: string): boolean {
  const { assets, attempts, jobs, uploads } = m.rows;
  const attempt = attempts[target];
  if (attempt?.state === "running") return true;
  const asset = assets[attempt ? jobs[attempt.job]!.asset : uploads[target]!.asset]!;
  if (asset.state === "deleted") return false;
  return attempt ? asset.versions.includes(target) : uploads[target]!.state !== "rejected";
}

// People.

function* cancel(m: Model, { job: name, by }: Extract<Action, { do: "cancel" }>): Steps {
  const job = m.rows.jobs[name]!;
  if (by === "stranger" || m.rows.assets[job.asset]!.state === "deleted") return refused("not-found");
  yield;
  switch (job.state) {
    case "file-processing-ready":
      job.cancelledBy = by;
      end(m, name, "cancelled", job.errorCode);
      return null;
    case "job-received":
      if (!job.cancelRequested) Object.assign(job, { cancelRequested: true, cancelledBy: by });
      return null;
    case "cancelled":
      return null;
    default:
      return refused("job-ended");
  }
}

function* retry(m: Model, { job: name, generation, by }: Extract<Action, { do: "retry" }>): Steps {
  const job = m.rows.jobs[name]!;
  const stateNow = () => m.rows.assets[job.asset]!.state;
  if (by === "stranger" || stateNow() === "deleted") return refused("not-found");
  if (by !== "admin") return refused("forbidden");
  yield;
  if (stateNow() !== "active") return refused(`asset-${stateNow()}`);
  if (job.generation > generation) return null;
  if (job.state === "processing-completed") return refused("job-ended");
  if (isUnfinished(job)) return refused("job-unfinished");
  if (isOvertaken(m, job)) return refused("newer-file");
  if (job.generation !== generation) return refused("conflict");
  // A newer job that is on its way would have refused this one.
  supersede(m, unfinishedOf(m, job.asset), "superseded");
  Object.assign(job, {
    generation: generation + 1,
    attemptLimit: job.attemptCount + attemptsPerGeneration,
    launchCount: 0,
    retryAt: null,
    cancelRequested: false,
    cancelledBy: null,
    errorCode: null,
    endedAt: null,
  });
  wait(m, name, "queued", 0);
  return null;
}

function* moveAsset(m: Model, action: { do: AssetMove; asset: string; by: string }): Steps {
  const asset = m.rows.assets[action.asset]!;
  const stateNow = () => asset.state;
  if (action.by === "stranger" || asset.state === "deleted") return refused("not-found");
  if (action.do !== "delete" && action.by !== "admin") return refused("forbidden");
  yield;
  switch (action.do) {
    case "block":
      if (asset.state !== "active") return null;
      asset.state = "blocked";
      supersede(m, unfinishedOf(m, action.asset), "asset-blocked");
      return null;
    case "unblock":
      if (asset.state === "blocked") asset.state = "active";
      return null;
    default:
      if (stateNow() !== "deleted") deleteAsset(m, action.asset);
      return null;
  }
}

function deleteAsset(m: Model, name: string): void {
  const asset = m.rows.assets[name]!;
  asset.state = "deleted";
  supersede(m, unfinishedOf(m, name), "asset-deleted");
  const sources = Object.entries(m.rows.uploads).filter(([, upload]) => upload.asset === name);
  for (const [source] of sources) enterDeletion(m, source, assetCleanupDelaySeconds);
  for (const version of asset.versions) enterDeletion(m, version, assetCleanupDelaySeconds);
}
