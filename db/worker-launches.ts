/** Launches: every machine that was asked for, until it is confirmed gone. Which one a job waits for, its row tells. */
import { and, asc, count, eq, gte, isNull, or, sql } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now, readClock } from "./clock.ts";
import { jobs } from "./schema/jobs.ts";
import { workerLaunches } from "./schema/worker-launches.ts";

export type WorkerLaunch = typeof workerLaunches.$inferSelect;

/** What a fleet told of a launch's machine. */
export type LaunchedMachine = Required<
  Record<"machineId" | "machineType", string> & Record<"usdPerHour", number>
>;

const isOpen = (provisioningToken: string) =>
  and(eq(workerLaunches.provisioningToken, provisioningToken), isNull(workerLaunches.goneAt));

/** Part of beginning a launch: from here on it takes a place below the ceiling. */
export async function insertLaunch(
  tx: Transaction,
  launch: Pick<WorkerLaunch, "provisioningToken" | "actionKey" | "generation">,
): Promise<void> {
  await tx.insert(workerLaunches).values({ ...launch, beganAt: now });
}

/** J8: machines that are launched and not confirmed gone, and launches that may still become one. */
export async function countOpenLaunches(db: Executor): Promise<number> {
  const rows = await db.select({ open: count() }).from(workerLaunches).where(isNull(workerLaunches.goneAt));
  return rows[0]?.open ?? 0;
}

/**
 * J8: what machines cost since midnight UTC, in US dollars at list price; one that is still there up to now. Refused
 * launches cost nothing.
 *
 * The clock is read first: as a function that tests can set it may change within a query, so an index can't be
 * asked for it.
 */
export async function sumSpentToday(db: Executor): Promise<number> {
  const clock = await readClock(db);
  const midnight = new Date(clock);
  midnight.setUTCHours(0, 0, 0, 0);
  const at = (instant: Date) => sql`${instant.toISOString()}::timestamptz`;
  const rows = await db
    .select({
      usd: sql<number>`coalesce(sum(${workerLaunches.usdPerHour} * extract(epoch from
        coalesce(${workerLaunches.goneAt}, ${at(clock)}) - greatest(${workerLaunches.beganAt}, ${at(midnight)})) / 3600), 0)::float8`,
    })
    .from(workerLaunches)
    .where(
      or(
        isNull(workerLaunches.goneAt),
        and(isNull(workerLaunches.refusal), gte(workerLaunches.goneAt, midnight)),
      ),
    );
  return rows[0]?.usd ?? 0;
}

/** The machine that this launch has given. */
export async function recordMachine(
  db: Executor,
  provisioningToken: string,
  { machineId, machineType, usdPerHour }: LaunchedMachine,
): Promise<void> {
  await db
    .update(workerLaunches)
    .set({ machineId, machineType, usdPerHour })
    .where(isOpen(provisioningToken));
}

/** No machine comes of it: a definite refusal. */
export async function closeAsRefused(
  tx: Transaction,
  provisioningToken: string,
  refusal: string,
): Promise<void> {
  await tx.update(workerLaunches).set({ goneAt: now, refusal }).where(isOpen(provisioningToken));
}

/** Its machine is confirmed gone, or there never was one. */
export async function closeAsGone(db: Executor, provisioningToken: string): Promise<void> {
  await db.update(workerLaunches).set({ goneAt: now }).where(isOpen(provisioningToken));
}

/** Its machine was taken for gone and is there: it counts again. False where this launch is none of ours. */
export async function reopenLaunch(db: Executor, provisioningToken: string): Promise<boolean> {
  const rows = await db
    .update(workerLaunches)
    .set({ goneAt: null, refusal: null })
    .where(eq(workerLaunches.provisioningToken, provisioningToken))
    .returning({ provisioningToken: workerLaunches.provisioningToken });
  return rows.length > 0;
}

/** Notes since when no job wants the machine, once; a machine that is wanted again begins anew. */
export async function markWanted(db: Executor, provisioningToken: string, wanted: boolean): Promise<void> {
  await db
    .update(workerLaunches)
    .set({ unwantedSince: wanted ? null : sql`coalesce(${workerLaunches.unwantedSince}, ${now})` })
    .where(isOpen(provisioningToken));
}

/**
 * A machine is wanted while its job waits for exactly this launch, or is worked on by it under a lease that holds.
 * `awaited`: the first of the two.
 */
const awaited = sql<boolean>`(${jobs.state} = 'file-processing-ready'
  and ${jobs.provisioningToken} is not distinct from ${workerLaunches.provisioningToken})`;
const working = sql<boolean>`(${jobs.state} = 'job-received'
  and ${jobs.machineId} is not distinct from ${workerLaunches.machineId} and ${jobs.leaseExpiryTime} > ${now})`;

/** An open launch as the reaper sees it. Ages are in seconds, by the database's clock. */
export type OpenLaunch = Awaited<ReturnType<typeof listOpenLaunches>>[number];

/** All open launches, the oldest first: at most the ceiling, and what comes of a lowered one. */
export const listOpenLaunches = (db: Executor, provisioningToken?: string) =>
  db
    .select({
      launch: workerLaunches,
      ageSeconds: sql<number>`extract(epoch from ${now} - ${workerLaunches.beganAt})::float8`,
      unwantedSeconds: sql<number>`coalesce(extract(epoch from ${now} - ${workerLaunches.unwantedSince}), 0)::float8`,
      isAwaited: awaited,
      isWanted: sql<boolean>`${awaited} or ${working}`,
    })
    .from(workerLaunches)
    .innerJoin(jobs, eq(jobs.actionKey, workerLaunches.actionKey))
    .where(provisioningToken ? isOpen(provisioningToken) : isNull(workerLaunches.goneAt))
    .orderBy(asc(workerLaunches.beganAt));
