/** The database's rows in the model's words. */
import type { JobRows } from "@reelkeep/db/testing/job-rows";
import type { Rows } from "./job-model.ts";
import type { Names } from "./names.ts";

/** What the rows are read with. */
interface Reading {
  /** The model's time 0, in milliseconds since 1970. */
  readonly start: number;
  readonly names: Names;
  /** The launch that gave a machine. */
  readonly launchOf: (machineId: string) => string;
  /** Names by user's id. */
  readonly people: ReadonlyMap<string, string>;
}

export function toModelRows(
  rows: JobRows,
  { start, names, launchOf, people }: Reading,
): Omit<Rows, "machines"> {
  const { nameOf } = names;
  const maybe = <From, To>(value: From | null, change: (value: From) => To): To | null =>
    value === null ? null : change(value);
  const time = (at: number | null) => maybe(at, (ms) => Math.round(ms - start));
  const attemptOfPrefix = new Map(rows.attempts.map(({ prefix, id }) => [prefix, nameOf(id)]));
  const uploadOfKey = new Map(rows.uploads.map(({ key, id }) => [key, nameOf(id)]));
  const byName = <Row extends { id: string }, To>(all: readonly Row[], change: (row: Row) => To) =>
    Object.fromEntries(all.map((row) => [nameOf(row.id), change(row)]));
  return {
    assets: byName(rows.assets, ({ id, state, sourceRevision, active }) => ({
      state,
      sourceRevision,
      versions: rows.versions.filter(({ asset }) => asset === id).map(({ attempt }) => nameOf(attempt)),
      active: maybe(active, (version) =>
        nameOf(rows.versions.find(({ versionId }) => versionId === version)!.attempt),
      ),
    })),
    uploads: byName(rows.uploads, ({ asset, state }) => ({ asset: nameOf(asset), state })),
    jobs: byName(rows.jobs, ({ id: _, ...job }) => ({
      ...job,
      asset: nameOf(job.asset),
      admittedAt: time(job.admittedAt)!,
      cancelledBy: maybe(job.cancelledBy, (by) => people.get(by) ?? by),
      holder: maybe(job.holder, nameOf),
      leaseUntil: time(job.leaseUntil),
      retryAt: time(job.retryAt),
      launch: maybe(job.launch, nameOf),
      machine: maybe(job.machine, launchOf),
      launchedAt: time(job.launchedAt),
      endedAt: time(job.endedAt),
    })),
    attempts: byName(rows.attempts, ({ id: _, prefix: __, ...attempt }) => ({
      ...attempt,
      job: nameOf(attempt.job),
      machine: maybe(attempt.machine, launchOf),
      startedAt: time(attempt.startedAt)!,
      endedAt: time(attempt.endedAt),
    })),
    launches: byName(rows.launches, ({ id: _, ...launch }) => ({
      ...launch,
      job: nameOf(launch.job),
      machine: maybe(launch.machine, launchOf),
      beganAt: time(launch.beganAt)!,
      unwantedSince: time(launch.unwantedSince),
      goneAt: time(launch.goneAt),
    })),
    messages: rows.messages.map((message) => ({
      ...message,
      job: nameOf(message.job),
      availableAt: time(message.availableAt)!,
      lockedUntil: time(message.lockedUntil),
    })),
    events: rows.events.map((event) => ({ ...event, job: nameOf(event.job) })),
    deletions: rows.deletions.map(({ target, ...deletion }) => ({
      ...deletion,
      target: attemptOfPrefix.get(target) ?? uploadOfKey.get(target) ?? target,
      dueAt: time(deletion.dueAt)!,
      deletedAt: time(deletion.deletedAt),
      confirmedAt: time(deletion.confirmedAt),
    })),
  };
}

/** Lists in one order, so that two sets of rows are equal where their rows are. */
export const inOrder = (rows: Rows): Rows => ({
  ...rows,
  messages: sorted(rows.messages),
  events: sorted(rows.events),
  deletions: sorted(rows.deletions),
  machines: [...rows.machines].sort(),
});

const sorted = <Row extends object>(rows: readonly Row[]): Row[] =>
  rows
    .map((row) => [JSON.stringify(Object.entries(row).sort()), row] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
