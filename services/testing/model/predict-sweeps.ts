/** What the sweeps do: leases, machines, deletions. */
import { secondLookSeconds } from "@reelkeep/core/job/policy";
import { afterFailure, closeAttempt, end, type Steps, seconds } from "./consequences.ts";
import { type Answer, type Model, type ModelJob, modelPolicy as policy } from "./job-model.ts";
import { close, recordLaunch, repeatLaunch } from "./predict-launches.ts";

export function* recover(m: Model): Steps {
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
  const late = names.filter((each) => isLate(jobs[each]!)).map((each) => jobs[each]!.launch!);
  for (const launch of late) if (yield* repeatLaunch(m, launch)) relaunches++;
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

export function* reap(m: Model, betweenLaunches: boolean): Steps {
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

export function clean(m: Model): Answer {
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
