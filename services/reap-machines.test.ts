import { randomUUID } from "node:crypto";
import { AppError } from "@reelkeep/core/errors";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { findJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import { travel } from "@reelkeep/db/testing/clock";
import { seedJob } from "@reelkeep/db/testing/seed";
import { countOpenLaunches } from "@reelkeep/db/worker-launches";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { claimJob } from "./claim-job.ts";
import { dispatchLaunches } from "./dispatch-outbox.ts";
import { failAttempt } from "./fail-attempt.ts";

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

const needsOf = (fleet: TestFleet) => ({ ...context, fleet });
const { idleMachineSeconds, launchSeconds, leaseSeconds } = defaultJobPolicy;

/** A job with its launch dispatched; `claim` is what its worker does first. */
async function launchedJob(fleet: TestFleet) {
  const { actionKey } = (await seedJob(context.db)).job;
  await context.db.transaction((tx) => writeOutbox(tx, { kind: "launch-worker", actionKey, generation: 1 }));
  await dispatchLaunches(needsOf(fleet));
  const { machineId } = machineOf(fleet.requests.at(-1)!);
  const attemptId = randomUUID();
  const claim = () =>
    claimJob(context, { actionKey, generation: 1, attemptId, workerId: randomUUID(), machineId });
  return { actionKey, machineId, attemptId, claim };
}

it("J6 a machine on its way to its claim, and one that works under a live lease, are left alone", async () => {
  const fleet = createTestFleet();
  await launchedJob(fleet);
  await (await launchedJob(fleet)).claim();
  for (const seconds of [0, idleMachineSeconds - 1, leaseSeconds - 1]) {
    await travel(context.db, seconds);
    expect(await reapMachines(needsOf(fleet))).toMatchObject({
      ended: 0,
      gone: 0,
      strangers: [],
      failures: [],
    });
  }
  expect(fleet.machines.size).toBe(2);
});

it("J6 a machine whose lease ran out is ended once it was idle for long enough, not before", async () => {
  const fleet = createTestFleet();
  const { machineId, claim } = await launchedJob(fleet);
  await claim();
  await travel(context.db, leaseSeconds + 1);
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ ended: 0 });
  await travel(context.db, leaseSeconds + idleMachineSeconds - 1);
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ ended: 0 });
  await travel(context.db, leaseSeconds + idleMachineSeconds + 2);
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ ended: 1 });
  expect(fleet.terminated).toEqual([machineId]);
  expect(await countOpenLaunches(context.db)).toBe(1);
  await reapMachines(needsOf(fleet));
  expect(await countOpenLaunches(context.db)).toBe(0);
});

it("J6 a worker that has recorded its failure gets the time to leave by itself", async () => {
  const fleet = createTestFleet();
  const { actionKey, attemptId, claim } = await launchedJob(fleet);
  await claim();
  const failure = {
    error: new AppError("encoder-failed"),
    stage: "encode" as const,
    completedRenditions: [],
  };
  await failAttempt(context, { actionKey, attemptId }, failure);
  await reapMachines(needsOf(fleet));
  expect(fleet.terminated).toEqual([]);
  await travel(context.db, idleMachineSeconds + 1);
  await reapMachines(needsOf(fleet));
  expect(fleet.terminated).toHaveLength(1);
});

it("J6 a worker that claims between the look and the end keeps its machine", async () => {
  const fleet = createTestFleet();
  const { claim } = await launchedJob(fleet);
  await claim();
  await travel(context.db, leaseSeconds + 1);
  await recoverJobs(needsOf(fleet));
  await reapMachines(needsOf(fleet));
  await travel(context.db, leaseSeconds + idleMachineSeconds + 2);
  const { alive } = fleet;
  // A restarted container of the same machine claims its job again, after the reaper has read the rows.
  fleet.alive = async () => {
    await claimAgain();
    return alive();
  };
  const claimAgain = async () => {
    const [machine] = fleet.machines.values();
    await claimJob(context, {
      actionKey: fleet.requests[0]!.actionKey,
      generation: 1,
      attemptId: randomUUID(),
      workerId: randomUUID(),
      machineId: machine!.machineId,
    });
  };
  await reapMachines(needsOf(fleet));
  expect(fleet.terminated).toEqual([]);
  expect((await findJob(context.db, fleet.requests[0]!.actionKey))?.state).toBe("job-received");
});

it("J6 a machine that died before its claim is replaced at once, not after the wait for it", async () => {
  const fleet = createTestFleet();
  const { actionKey } = await launchedJob(fleet);
  fleet.machines.clear();
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ relaunches: 1, gone: 1 });
  await dispatchLaunches(needsOf(fleet));
  expect(fleet.requests.map((request) => request.actionKey)).toEqual([actionKey, actionKey]);
});

it("J6 a machine that died at work frees its place, and its job waits for the lease to run out", async () => {
  const fleet = createTestFleet();
  const { actionKey, claim } = await launchedJob(fleet);
  await claim();
  fleet.machines.clear();
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ relaunches: 0, gone: 1 });
  await recoverJobs(needsOf(fleet));
  expect((await findJob(context.db, actionKey))?.state).toBe("job-received");
});

it("J8 a machine isn't taken for gone while the fleet's list may be late, nor while its launch may still be answered", async () => {
  const fleet = { ...createTestFleet(), listingLagSeconds: 120 };
  await launchedJob(fleet);
  fleet.machines.clear();
  await travel(context.db, 119);
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ gone: 0 });
  await travel(context.db, 121);
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ gone: 1 });

  await context.db.execute("truncate jobs cascade");
  await travel(context.db, 0);
  const silent = createTestFleet(() => {
    throw new Error("connection reset");
  });
  await launchedJob(silent);
  await travel(context.db, launchSeconds - 1);
  expect(await reapMachines(needsOf(silent))).toMatchObject({ gone: 0 });
  await travel(context.db, launchSeconds + 1);
  expect(await reapMachines(needsOf(silent))).toMatchObject({ gone: 1 });
});

it("J6 J7 a machine whose launch got no answer is found in the fleet's list, and its job learns of it", async () => {
  const fleet = createTestFleet((request, { machines }) => {
    const machine = machineOf(request);
    machines.set(machine.machineId, machine);
    throw new Error("connection reset");
  });
  const { actionKey, machineId } = await launchedJob(fleet);
  await reapMachines(needsOf(fleet));
  expect((await findJob(context.db, actionKey))?.machineId).toBe(machineId);
});

it("J8 a machine that was wrongly taken for gone counts again; one of nobody's is told and left alone", async () => {
  const fleet = createTestFleet();
  const { machineId } = await launchedJob(fleet);
  const machine = fleet.machines.get(machineId)!;
  fleet.machines.clear();
  await reapMachines(needsOf(fleet));
  expect(await countOpenLaunches(context.db)).toBe(0);
  fleet.machines.set(machineId, machine);
  const stranger = machineOf({ provisioningToken: randomUUID() });
  fleet.machines.set(stranger.machineId, stranger);
  expect(await reapMachines(needsOf(fleet))).toMatchObject({ strangers: [stranger.machineId] });
  expect(await countOpenLaunches(context.db)).toBe(1);
  expect(fleet.terminated).toEqual([]);
});
