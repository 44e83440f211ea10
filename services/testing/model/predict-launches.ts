/** What the dispatcher does, and what becomes of a launch. */
import type { WaitingReason } from "@reelkeep/core/job/machine";
import { end, intend, type Steps, seconds } from "./consequences.ts";
import {
  type FleetAnswer,
  type Model,
  type ModelJob,
  type ModelMessage,
  modelPolicy as policy,
} from "./job-model.ts";

export function* dispatch(m: Model, answers: readonly FleetAnswer[]): Steps {
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
  if (job.state === "file-processing-ready" && job.generation === message.generation)
    Object.assign(message, { availableAt: m.now + seconds(job.launch ? 60 : 1), lockedUntil: null });
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

export function close(m: Model, name: string, wasRefused: boolean): void {
  const launch = m.rows.launches[name]!;
  if (launch.goneAt === null) Object.assign(launch, { goneAt: m.now, refused: wasRefused });
}

export function* recordLaunch(m: Model, name: string): Steps<void> {
  const launch = m.rows.launches[name]!;
  if (launch.goneAt === null) launch.machine = name;
  yield;
  const job = m.rows.jobs[launch.job]!;
  if (job.launch === name) job.machine = name;
  yield;
}

/** A launch that gave no worker: its machine is ended, then there is another, or after the third none. */
export function* repeatLaunch(m: Model, name: string): Steps<boolean> {
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
