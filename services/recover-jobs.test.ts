import { randomUUID } from "node:crypto";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { beginLaunch, recordLaunch } from "@reelkeep/db/job-launches";
import { findJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import { jobs } from "@reelkeep/db/schema/jobs";
import { outboxMessages } from "@reelkeep/db/schema/outbox-messages";
import { travel } from "@reelkeep/db/testing/clock";
import { seedJob } from "@reelkeep/db/testing/seed";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { claimJob } from "./claim-job.ts";
import { dispatchLaunches } from "./dispatch-outbox.ts";
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

const needsOf = (fleet: TestFleet) => ({ ...context, fleet });

/** A job whose launch has given a machine that is there and doesn't claim. */
async function launchedJob(fleet: TestFleet) {
  const seeded = await seedJob(context.db);
  const { actionKey, generation } = seeded.job;
  const provisioningToken = randomUUID();
  const machine = machineOf({ provisioningToken });
  await context.db.transaction((tx) => beginLaunch(tx, { actionKey, generation, provisioningToken }));
  await recordLaunch(context.db, { actionKey, provisioningToken, machine });
  fleet.machines.set(machine.machineId, machine);
  const claim = () =>
    claimJob(context, {
      actionKey,
      generation,
      attemptId: randomUUID(),
      workerId: randomUUID(),
      machineId: machine.machineId,
    });
  return { actionKey, provisioningToken, machineId: machine.machineId, claim };
}

it("J6 an expired lease is returned with its attempt told, by one of two sweeps at once; a live one stays", async () => {
  const lost = await seedJob(context.db, "job-received", { leaseSeconds: -1 });
  const live = await seedJob(context.db, "job-received", { leaseSeconds: 60 });
  const sweeps = await Promise.all([1, 2].map(() => recoverJobs(needsOf(createTestFleet()))));
  expect(sweeps.map(({ expiredLeases }) => expiredLeases).reduce((a, b) => a + b)).toBe(1);
  expect(await findJob(context.db, lost.job.actionKey)).toMatchObject({
    state: "file-processing-ready",
    waitingReason: "retry-backoff",
    errorCode: "worker-lost",
  });
  expect(await listAttempts(context.db, lost.job.actionKey)).toMatchObject([{ state: "lease-expired" }]);
  const intents = await context.db
    .select()
    .from(outboxMessages)
    .where(eq(outboxMessages.actionKey, lost.job.actionKey));
  expect(intents).toHaveLength(1);
  expect((await findJob(context.db, live.job.actionKey))?.state).toBe("job-received");
});

it("J6 J10 an expired lease on a job that was to be cancelled ends it as cancelled, however many attempts are left", async () => {
  const lost = await seedJob(context.db, "job-received", { leaseSeconds: -1 });
  await context.db
    .update(jobs)
    .set({ cancelRequestedAt: new Date(), cancelledBy: lost.userId })
    .where(eq(jobs.actionKey, lost.job.actionKey));
  await recoverJobs(needsOf(createTestFleet()));
  expect(await findJob(context.db, lost.job.actionKey)).toMatchObject({
    state: "cancelled",
    cancelledBy: lost.userId,
  });
});

it("J6 a worker that claims just as its launch is taken for dead keeps its job and its machine", async () => {
  const fleet = createTestFleet();
  const [first, second] = [await launchedJob(fleet), await launchedJob(fleet)];
  const { terminate } = fleet;
  // The first machine's end takes long enough for both workers to claim.
  fleet.terminate = async (machineId) => {
    await terminate(machineId);
    await first.claim();
    await second.claim();
  };
  await travel(context.db, context.jobPolicy.launchSeconds + 1);
  await recoverJobs(needsOf(fleet));
  expect(fleet.terminated).toHaveLength(1);
  for (const { actionKey } of [first, second])
    expect((await findJob(context.db, actionKey))?.state).toBe("job-received");
});

it("J6 a machine that can't be ended keeps no other job from its recovery", async () => {
  const fleet = createTestFleet();
  const [stuck, other] = [await launchedJob(fleet), await launchedJob(fleet)];
  const { terminate } = fleet;
  fleet.terminate = async (machineId) => {
    if (machineId === stuck.machineId) throw new Error("no answer");
    await terminate(machineId);
  };
  await travel(context.db, context.jobPolicy.launchSeconds + 1);
  const recovery = await recoverJobs(needsOf(fleet));
  expect(recovery.failures).toMatchObject([{ actionKey: stuck.actionKey }]);
  expect(await findJob(context.db, other.actionKey)).toMatchObject({
    waitingReason: "queued",
    provisioningToken: null,
  });
  expect((await findJob(context.db, stuck.actionKey))?.provisioningToken).toBe(stuck.provisioningToken);
});

it("J6 after three launches that nobody claimed, the job fails as never started", async () => {
  const { actionKey } = (await seedJob(context.db)).job;
  await context.db.transaction((tx) => writeOutbox(tx, { kind: "launch-worker", actionKey, generation: 1 }));
  const fleet = createTestFleet();
  for (let launches = 1; launches <= 4; launches++) {
    await dispatchLaunches(needsOf(fleet));
    await travel(context.db, launches * (context.jobPolicy.launchSeconds + 1));
    await recoverJobs(needsOf(fleet));
  }
  expect(fleet.requests).toHaveLength(3);
  expect(fleet.terminated).toHaveLength(3);
  expect(await findJob(context.db, actionKey)).toMatchObject({
    state: "failed",
    errorCode: "worker-never-started",
  });
});

it("J6 two sweeps at once that find the same dead launch lead to one launch", async () => {
  const fleet = createTestFleet();
  const dead = await launchedJob(fleet);
  await travel(context.db, context.jobPolicy.launchSeconds + 1);
  await Promise.all([1, 2, 3].map(() => recoverJobs(needsOf(fleet))));
  await Promise.all([1, 2, 3].map(() => dispatchLaunches(needsOf(fleet))));
  expect(fleet.requests.map(({ actionKey }) => actionKey)).toEqual([dead.actionKey]);
});

it("J6 J7 a launch whose answer was lost and whose machine came is ended with that machine before the next begins", async () => {
  const { actionKey } = (await seedJob(context.db)).job;
  await context.db.transaction((tx) => writeOutbox(tx, { kind: "launch-worker", actionKey, generation: 1 }));
  let answers = false;
  const fleet = createTestFleet((request, { machines }) => {
    if (answers) return null;
    const machine = machineOf(request);
    machines.set(machine.machineId, machine);
    throw new Error("connection reset");
  });
  await dispatchLaunches(needsOf(fleet));
  const first = machineOf(fleet.requests[0]!).machineId;
  answers = true;
  await travel(context.db, context.jobPolicy.launchSeconds + 1);
  await recoverJobs(needsOf(fleet));
  expect(fleet.terminated).toEqual([first]);
  await dispatchLaunches(needsOf(fleet));
  expect(fleet.requests).toHaveLength(2);
});
