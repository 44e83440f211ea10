import type { LaunchRequest, WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { findJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import { jobs } from "@reelkeep/db/schema/jobs";
import { outboxMessages } from "@reelkeep/db/schema/outbox-messages";
import { workerLaunches } from "@reelkeep/db/schema/worker-launches";
import { travel } from "@reelkeep/db/testing/clock";
import { seedJob, seedUser } from "@reelkeep/db/testing/seed";
import { countOpenLaunches, sumSpentToday } from "@reelkeep/db/worker-launches";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { eq, inArray, sql } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { dispatchLaunches } from "./dispatch-outbox.ts";
import { reapMachines } from "./reap-machines.ts";
import { recoverJobs } from "./recover-jobs.ts";
import { createTestContext, type TestContext } from "./testing/context.ts";
import { createTestFleet, machineOf, type TestFleet } from "./testing/fleet.ts";

let database: TestDatabase;
let context: TestContext;
beforeAll(async () => {
  database = await createTestDatabase();
  context = createTestContext(database.url, { bucket: "none", region: "us-east-1" });
});
afterAll(async () => {
  await context.close();
  await database.drop();
});
afterEach(async () => {
  await travel(context.db, 0);
  await context.db.execute("truncate jobs cascade");
});

const needsOf = (fleet: WorkerFleet, policy: Partial<TestContext["jobPolicy"]> = {}) => ({
  ...context,
  fleet,
  jobPolicy: { ...context.jobPolicy, ...policy },
});

/** Waiting jobs with their intents, as admission leaves them; their keys in order of admission. */
async function seedWaiting(howMany: number): Promise<string[]> {
  const userId = await seedUser(context.db);
  const keys: string[] = [];
  for (let i = 0; i < howMany; i++) {
    const { actionKey, generation } = (await seedJob(context.db, "file-processing-ready", { userId })).job;
    await context.db.transaction((tx) => writeOutbox(tx, { kind: "launch-worker", actionKey, generation }));
    keys.push(actionKey);
  }
  return keys;
}
const seedOne = async () => (await seedWaiting(1))[0]!;

/** The job is over and its machine is gone, as the fleet tells. */
async function finish(fleet: TestFleet, actionKey: string): Promise<void> {
  await context.db
    .update(jobs)
    .set({ state: "failed", waitingReason: null, provisioningToken: null })
    .where(eq(jobs.actionKey, actionKey));
  for (const request of fleet.requests)
    if (request.actionKey === actionKey) fleet.machines.delete(machineOf(request).machineId);
  await reapMachines(needsOf(fleet));
}
const reasonsOf = async (keys: string[]) => [
  ...new Set(
    (await context.db.select().from(jobs).where(inArray(jobs.actionKey, keys))).map(
      ({ waitingReason }) => waitingReason,
    ),
  ),
];

it("J7 a dispatcher that dies in the middle of a launch costs nothing: its lock ends, and the sweep launches once more", async () => {
  const actionKey = await seedOne();
  const begun: LaunchRequest[] = [];
  const dying: WorkerFleet = {
    ...createTestFleet(),
    launch: (request) => {
      begun.push(request);
      return new Promise(() => {});
    },
  };
  void dispatchLaunches(needsOf(dying));
  await expect.poll(() => begun.length).toBe(1);
  const fleet = createTestFleet();
  await travel(context.db, 61);
  await dispatchLaunches(needsOf(fleet));
  expect(fleet.requests).toEqual([]);
  await travel(context.db, context.jobPolicy.launchSeconds + 61);
  await recoverJobs(needsOf(fleet));
  await dispatchLaunches(needsOf(fleet));
  expect(fleet.requests.map((request) => request.actionKey)).toEqual([actionKey]);
  expect(fleet.requests[0]!.provisioningToken).not.toBe(begun[0]!.provisioningToken);
});

it("J7 a launch that takes longer than a dispatcher's lock, and is refused then, is made again", async () => {
  const actionKey = await seedOne();
  let refuse = (): void => {};
  const slow: WorkerFleet = {
    ...createTestFleet(),
    launch: () =>
      new Promise((resolve) => {
        refuse = () => resolve({ outcome: "refused", reason: "no-capacity", message: "none" });
      }),
  };
  const dispatching = dispatchLaunches(needsOf(slow));
  await expect.poll(async () => (await findJob(context.db, actionKey))?.provisioningToken).not.toBeNull();
  await travel(context.db, 61);
  const fleet = createTestFleet();
  await dispatchLaunches(needsOf(fleet));
  expect(fleet.requests).toEqual([]);
  refuse();
  await dispatching;
  await travel(context.db, 80);
  await dispatchLaunches(needsOf(fleet));
  expect(fleet.requests).toMatchObject([{ actionKey }]);
});

it("J7 two dispatchers at once launch an admitted job once", async () => {
  const actionKey = await seedOne();
  const fleet = createTestFleet();
  await Promise.all([1, 2].map(() => dispatchLaunches(needsOf(fleet))));
  expect(fleet.requests).toMatchObject([
    { actionKey, sourceSizeBytes: 1000, sourceDurationSeconds: 10, profile: "hls-ts-v1" },
  ]);
  expect(await findJob(context.db, actionKey)).toMatchObject({ waitingReason: "launching", launchCount: 1 });
});

it("J8 jobs above the ceiling wait with their reason and are launched in order of admission", async () => {
  const keys = await seedWaiting(300);
  const fleet = createTestFleet();
  const needs = needsOf(fleet, { workersMax: 2 });
  expect(await dispatchLaunches(needs)).toBe(2);
  expect(await reasonsOf(keys.slice(2))).toEqual(["waiting-for-slot"]);
  for (let run = 0; run < 8; run++) {
    await finish(fleet, fleet.requests[run]!.actionKey);
    // The first in line stays due, so that whoever comes later can't overtake it.
    await Promise.all([dispatchLaunches(needs), dispatchLaunches(needs)]);
  }
  expect(fleet.requests.map((request) => request.actionKey)).toEqual(keys.slice(0, 10));
  expect(fleet.aliveMax).toBe(2);
});

it("J8 an orphan takes its place below the ceiling until its machine is confirmed gone", async () => {
  const [lost, next] = (await seedWaiting(2)) as [string, string];
  const fleet = createTestFleet();
  const needs = needsOf(fleet, { workersMax: 1 });
  await dispatchLaunches(needs);
  // Its job is over, whatever its machine still does.
  await context.db
    .update(jobs)
    .set({ state: "failed", waitingReason: null, provisioningToken: null })
    .where(eq(jobs.actionKey, lost));
  await reapMachines(needs);
  expect(await dispatchLaunches(needs)).toBe(0);
  expect(await findJob(context.db, next)).toMatchObject({ waitingReason: "waiting-for-slot" });
  fleet.machines.clear();
  await reapMachines(needs);
  expect(await dispatchLaunches(needs)).toBe(1);
});

it("J8 a launch without an answer takes a place too; a definite refusal takes none", async () => {
  await seedWaiting(3);
  const silent = createTestFleet(() => {
    throw new Error("connection reset");
  });
  await dispatchLaunches(needsOf(silent, { workersMax: 2 }));
  expect([silent.requests.length, await countOpenLaunches(context.db)]).toEqual([2, 2]);
  await context.db.execute("truncate jobs cascade");
  await seedWaiting(3);
  const full = createTestFleet(() => ({ outcome: "refused", reason: "no-capacity", message: "" }));
  await dispatchLaunches(needsOf(full, { workersMax: 2 }));
  expect([full.requests.length, await countOpenLaunches(context.db)]).toEqual([3, 0]);
});

it("J8 once the day's budget is spent jobs wait for the next day, and go on by themselves then", async () => {
  const keys = await seedWaiting(3);
  const fleet = createTestFleet();
  const needs = needsOf(fleet, { workersMax: 1, dailyBudgetUsd: 2 });
  // Noon of tomorrow, so that the hours below stay within one day.
  const [clock] = (
    await context.db.execute<{ seconds: number }>(
      sql`select extract(epoch from date_trunc('day', now(), 'UTC') + interval '36 hours' - now())::float8 as seconds`,
    )
  ).rows;
  const noon = clock!.seconds;
  await travel(context.db, noon);
  expect(await dispatchLaunches(needs)).toBe(1);
  await travel(context.db, noon + 3600);
  expect(await sumSpentToday(context.db)).toBeCloseTo(1, 2);
  await finish(fleet, keys[0]!);
  expect(await dispatchLaunches(needs)).toBe(1);
  await travel(context.db, noon + 2 * 3600 + 60);
  await finish(fleet, keys[1]!);
  expect(await dispatchLaunches(needs)).toBe(0);
  expect(await reasonsOf(keys.slice(2))).toEqual(["waiting-for-budget"]);
  await travel(context.db, noon + 12 * 3600 + 60);
  expect(await sumSpentToday(context.db)).toBe(0);
  expect(await dispatchLaunches(needs)).toBe(1);
});

it("J8 a machine that works over midnight costs each day its part, and a refused launch nothing", async () => {
  const [actionKey] = await seedWaiting(1);
  const midnight = sql`date_trunc('day', reelkeep_now(), 'UTC')`;
  const launch = (began: string, gone: string, refusal: string | null) =>
    context.db.insert(workerLaunches).values({
      provisioningToken: crypto.randomUUID(),
      actionKey: actionKey!,
      generation: 1,
      usdPerHour: 6,
      beganAt: sql`${midnight} + ${began}::interval`,
      goneAt: sql`${midnight} + ${gone}::interval`,
      refusal,
    });
  await launch("-2 hours", "30 minutes", null);
  await launch("-2 hours", "-1 hours", null);
  await launch("0 minutes", "10 minutes", "none of this kind");
  expect(await sumSpentToday(context.db)).toBeCloseTo(3, 6);
});

it("J8 a job tried again keeps its place before those admitted after it", async () => {
  const [older, younger] = (await seedWaiting(2)) as [string, string];
  await context.db
    .update(outboxMessages)
    .set({ createdAt: new Date() })
    .where(eq(outboxMessages.actionKey, older));
  const fleet = createTestFleet();
  const needs = needsOf(fleet, { workersMax: 1 });
  await dispatchLaunches(needs);
  await finish(fleet, older);
  await dispatchLaunches(needs);
  expect(fleet.requests.map((request) => request.actionKey)).toEqual([older, younger]);
});

it("J7 missing capacity and throttling use up no attempt; a definite refusal does, and ends as launch-failed", async () => {
  const actionKey = await seedOne();
  for (const [hours, reason] of [
    [0, "no-capacity"],
    [1, "throttled"],
  ] as const) {
    await travel(context.db, hours * 3600);
    const none = createTestFleet(() => ({ outcome: "refused", reason, message: "not now" }));
    await dispatchLaunches(needsOf(none));
    expect(none.requests).toHaveLength(1);
    expect(await findJob(context.db, actionKey)).toMatchObject({
      state: "file-processing-ready",
      waitingReason: "waiting-for-capacity",
      provisioningToken: null,
      launchCount: 0,
    });
  }
  const invalid = createTestFleet(() => ({ outcome: "refused", reason: "invalid", message: "no such type" }));
  for (let hours = 2; hours <= 6; hours++) {
    await travel(context.db, hours * 3600);
    await dispatchLaunches(needsOf(invalid));
  }
  expect(invalid.requests).toHaveLength(5);
  expect(await findJob(context.db, actionKey)).toMatchObject({ state: "failed", errorCode: "launch-failed" });
});

it("J7 no answer isn't a refusal: the token stays, and no second machine is launched for it", async () => {
  const actionKey = await seedOne();
  const silent = createTestFleet(() => {
    throw new Error("connection reset");
  });
  await dispatchLaunches(needsOf(silent));
  await dispatchLaunches(needsOf(silent));
  expect(silent.requests).toHaveLength(1);
  expect((await findJob(context.db, actionKey))?.provisioningToken).toBe(
    silent.requests[0]!.provisioningToken,
  );
});
