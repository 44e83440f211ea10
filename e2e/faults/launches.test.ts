import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Actor } from "@reelkeep/core/access/policy";
import { describeMedia } from "@reelkeep/core/words/status";
import { openDatabase } from "@reelkeep/db/client";
import { findJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import { listProvisioningErrors } from "@reelkeep/db/provisioning-errors";
import { advance } from "@reelkeep/db/testing/clock";
import { listLaunches, listMessages } from "@reelkeep/db/testing/evidence";
import { type Control, createControl } from "@reelkeep/local/control";
import { cancelJob } from "@reelkeep/services/cancel-job";
import { getMediaStatus } from "@reelkeep/services/get-media-status";
import { retryJob } from "@reelkeep/services/retry-job";
import { createActor } from "@reelkeep/services/testing/context";
import pino from "pino";
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeVideo } from "../media.ts";
import { createFaultyFleet } from "./kit/faulty-fleet.ts";
import { attemptsInOrder, expectIntact, expectSettled, waitForJob } from "./kit/invariants.ts";
import type { StatementMatch } from "./kit/postgres-statement.ts";
import { findWorker, workersBelow, workersOf } from "./kit/processes.ts";
import { type FaultStack, startFaultStackForFile } from "./kit/stack.ts";
import { bringVideo } from "./kit/uploads.ts";
import { readEnvironment, restartWorker, startWorkerByHand } from "./kit/worker-by-hand.ts";

const fleet = createFaultyFleet();
const stack = startFaultStackForFile({
  paused: true,
  fleet: fleet.before,
  settings: { LEASE_SECONDS: "8" },
});
let admin: Actor;
beforeAll(async () => {
  admin = await createActor(stack().site, "admin");
});
afterEach(() => expect(fleet.doubled, "two machines for one job").toEqual([]));

/** The least that there is to encode. */
const blink = () => readFileSync(makeVideo("blink.mp4", 0.4, { size: "128x72" }));

/** What a worker asks first: the transaction of its claim. */
const claims = { text: /^begin\b/i, by: /^reelkeep-worker / };

/** The launches of a job that the fleet was asked for, by now. */
const launchesOf = (actionKey: string) => fleet.requests.filter((request) => request.actionKey === actionKey);

/** A video whose worker has claimed it and is kept from its source: it holds the lease and does nothing else. */
async function meetWorker() {
  const { actionKey, key } = await bringVideo(stack());
  const held = stack().storage.hold({ by: "workers", method: "GET", key: new RegExp(key) });
  await stack().control.dispatch();
  await held.caught();
  return { actionKey, worker: await findWorker(actionKey), held };
}

/** A control plane's part in another process: its own connections, the same database and machines. */
function secondControl({ database, bucket, storage, settings, fleet: real }: FaultStack): Control {
  const { db, close } = openDatabase(database.url, { applicationName: "reelkeep-control" });
  onTestFinished(close);
  return createControl({
    db,
    storage: { ...bucket, endpoint: storage.url("control") },
    fleet: fleet.before(real),
    settings,
    log: pino({ level: "silent" }),
  });
}

/** Two dispatchers or two sweeps, each of which has come to this statement before either goes on. */
async function runTwice(what: "dispatch" | "recover", meeting: StatementMatch): Promise<void> {
  const held = stack().database.hold({ ...meeting, by: /^reelkeep-control/ }, { times: 2 });
  const both = [stack().control[what](), secondControl(stack())[what]()];
  await held.caught();
  await held.caught();
  held.release();
  await Promise.all(both);
}

describe("claims", () => {
  for (const { workers, options } of [
    { workers: 2, options: { tags: ["short"] } },
    { workers: 20, options: {} },
  ])
    it(
      `J1 J2 of ${workers} workers that claim one job at once, one wins; the others leave and cost nothing`,
      options,
      async () => {
        const { actionKey } = await bringVideo(stack());
        const held = stack().database.hold(claims, { times: 1000 });
        const ends = Array.from({ length: workers }, () => startWorkerByHand(stack(), { actionKey }));
        for (const asking = new Set<string>(); asking.size < workers; ) asking.add((await held.caught()).by);
        held.release();

        const outcomes = await Promise.all(ends);
        expect(outcomes.map(({ exitCode }) => exitCode)).toEqual(outcomes.map(() => 0));
        expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
          ...Array.from({ length: workers - 1 }, () => "held"),
          "published",
        ]);
        await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
      },
    );

  it("J4 a container that is started again while its first life holds the job leaves it alone", async () => {
    const { actionKey, worker, held } = await meetWorker();
    expect(await restartWorker(stack(), readEnvironment(worker))).toEqual({ exitCode: 0, outcome: "held" });
    held.release();
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  });

  it("J4 J6 a container that is started again after its first life died waits for nobody: the sweep relaunches, before the lease's end nobody does", async () => {
    const { actionKey, worker, held } = await meetWorker();
    const environment = readEnvironment(worker);
    await worker.kill();
    held.cut();

    expect(await restartWorker(stack(), environment), "the lease still holds").toMatchObject({
      outcome: "held",
    });
    await advance(stack().db, stack().settings.LEASE_SECONDS);
    expect(await restartWorker(stack(), environment), "the sweep hasn't looked yet").toMatchObject({
      outcome: "held",
    });
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, {
      state: "processing-completed",
      attempts: 2,
      attemptStates: ["lease-expired", "succeeded"],
    });
  });

  it("J1 a worker that is started for a job that doesn't exist is recorded and leaves", async () => {
    const actionKey = randomUUID();
    expect(await startWorkerByHand(stack(), { actionKey })).toEqual({ exitCode: 0, outcome: "missing" });
    const recorded = await listProvisioningErrors(stack().db, { seconds: 3600, limit: 10 });
    expect(recorded.filter((error) => error.actionKey === actionKey)).toMatchObject([
      { errorCode: "job-missing", generation: 1, machineId: expect.stringMatching(/^by-hand-/) },
    ]);
  });

  it("J11 a worker of an old generation leaves what the retry began to the new one's", async () => {
    const { actionKey } = await bringVideo(stack());
    await cancelJob(stack().site, stack().site.creator, actionKey);
    await retryJob(stack().site, admin, { actionKey, generation: 1 });

    expect(await startWorkerByHand(stack(), { actionKey, generation: 1 })).toEqual({
      exitCode: 0,
      outcome: "stale-generation",
    });
    expect(await findJob(stack().db, actionKey)).toMatchObject({
      state: "file-processing-ready",
      attemptCount: 0,
    });
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  });
});

describe("launches", () => {
  it.each(["throttled", "no-capacity"] as const)(
    "J7 a launch that is refused as %s uses up no try, waits for capacity and goes on by itself",
    async (refused) => {
      const { actionKey } = await bringVideo(stack());
      // More often than anything else may fail.
      const refusals = 7;
      fleet.fail(...Array.from({ length: refusals }, () => ({ refused })));
      for (let count = 1; count <= refusals; count++) {
        await stack().control.dispatch();
        expect(launchesOf(actionKey)).toHaveLength(count);
        expect(await getMediaStatus(stack().site, stack().site.creator, actionKey)).toMatchObject({
          status: "file-processing-ready",
          waitingReason: "waiting-for-capacity",
          placeInLine: 1,
        });
        await advance(stack().db, 15);
      }
      const [message] = await listMessages(stack().db, actionKey);
      expect(message).toMatchObject({ state: "pending", attemptCount: 0 });

      stack().schedule.resume();
      await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    },
  );

  it("J7 after five launches that were refused for good the job fails as launch-failed, and an admin's retry succeeds", async () => {
    const { actionKey } = await bringVideo(stack());
    fleet.fail(...Array.from({ length: 5 }, () => ({ refused: "invalid" }) as const));
    for (let count = 1; count <= 5; count++) {
      await stack().control.dispatch();
      expect(launchesOf(actionKey)).toHaveLength(count);
      await advance(stack().db, 60);
    }
    await expectSettled(stack(), actionKey, { state: "failed", attempts: 0, errorCode: "launch-failed" });
    expect(
      (await listLaunches(stack().db, actionKey)).every(({ refusal, goneAt }) => refusal && goneAt),
    ).toBe(true);

    await retryJob(stack().site, admin, { actionKey, generation: 1 });
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  });

  it("J6 three machines on which no worker ever starts are ended one after another, then the job fails as worker-never-started", async () => {
    const { actionKey } = await bringVideo(stack());
    fleet.fail("idle-machine", "idle-machine", "idle-machine");
    for (let count = 1; count <= 3; count++) {
      await stack().control.dispatch();
      expect(launchesOf(actionKey)).toHaveLength(count);
      await stack().control.recover();
      expect(await findJob(stack().db, actionKey), "it is given its time").toMatchObject({
        launchCount: count,
        waitingReason: "launching",
      });
      await advance(stack().db, stack().settings.LAUNCH_SECONDS);
      await stack().control.recover();
    }
    await expectSettled(stack(), actionKey, {
      state: "failed",
      attempts: 0,
      errorCode: "worker-never-started",
    });
    const machines = (await listLaunches(stack().db, actionKey)).map(({ machineId }) => machineId);
    expect(machines).toHaveLength(3);
    expect(fleet.ended).toEqual(expect.arrayContaining(machines));
  });

  it("J7 a launch whose answer is lost, and of which nothing came, is repeated", async () => {
    const { actionKey } = await bringVideo(stack());
    fleet.fail({ lost: "nothing" });
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    expect(launchesOf(actionKey)).toHaveLength(2);
  });

  it("J7 a launch whose answer is lost, and of which a worker came nevertheless, isn't repeated", {
    tags: ["short"],
  }, async () => {
    const { actionKey } = await bringVideo(stack());
    fleet.fail({ lost: "worker" });
    const held = stack().database.hold(claims);
    stack().schedule.resume();
    await held.caught();
    // Twice more, while only the fleet knows of the machine.
    await stack().control.dispatch();
    await stack().control.recover();
    expect(workersOf(actionKey)).toHaveLength(1);
    held.release();

    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    const launches = await listLaunches(stack().db, actionKey);
    expect(launches).toMatchObject([{ machineId: expect.stringMatching(/^local-/) }]);
    expect(launchesOf(actionKey)).toHaveLength(1);
  });

  it("J6 J7 a machine of which only the fleet knows, and on which no worker starts, is ended before the next one is launched", async () => {
    const { actionKey } = await bringVideo(stack());
    fleet.fail({ lost: "idle-machine" });
    await stack().control.dispatch();
    await advance(stack().db, stack().settings.LAUNCH_SECONDS);
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    const [first] = launchesOf(actionKey);
    expect(fleet.ended).toContain(`idle-${first!.provisioningToken}`);
    expect(launchesOf(actionKey)).toHaveLength(2);
  });

  it("J6 a worker that dies before its claim is replaced at once and costs no attempt", async () => {
    const { actionKey } = await bringVideo(stack());
    const held = stack().database.hold(claims);
    stack().schedule.resume();
    await held.caught();
    const worker = await findWorker(actionKey);
    await worker.kill();
    held.cut();

    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    expect(launchesOf(actionKey)).toHaveLength(2);
  });

  it("J7 two dispatchers at once, and two intents for one job, launch it once", async () => {
    const { actionKey } = await bringVideo(stack());
    await stack().db.transaction((tx) =>
      writeOutbox(tx, { kind: "launch-worker", actionKey, generation: 1 }),
    );
    await runTwice("dispatch", { text: /pg_advisory_xact_lock/ });

    expect(launchesOf(actionKey)).toHaveLength(1);
    expect(await listLaunches(stack().db, actionKey)).toHaveLength(1);
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  });

  it("J6 two sweeps at once return an expired lease once, and it is launched once", async () => {
    const { actionKey, worker, held } = await meetWorker();
    await worker.kill();
    held.cut();
    await advance(stack().db, stack().settings.LEASE_SECONDS);

    await runTwice("recover", { text: /from "jobs" where .* for update/, parameter: actionKey });

    expect((await attemptsInOrder(stack().db, actionKey)).map(({ state }) => state)).toEqual([
      "lease-expired",
    ]);
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, {
      state: "processing-completed",
      attempts: 2,
      attemptStates: ["lease-expired", "succeeded"],
    });
    expect(launchesOf(actionKey)).toHaveLength(2);
  });

  it("J6 two sweeps at once repeat a launch that nobody claimed once", async () => {
    const { actionKey } = await bringVideo(stack());
    fleet.fail("idle-machine");
    await stack().control.dispatch();
    await advance(stack().db, stack().settings.LAUNCH_SECONDS);

    await runTwice("recover", { text: /^update "jobs" set .*"provisioning_token" = / });

    const intents = (await listMessages(stack().db, actionKey)).filter(({ state }) => state === "pending");
    expect(intents).toHaveLength(1);
    stack().schedule.resume();
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    expect(launchesOf(actionKey)).toHaveLength(2);
  });
});

describe("limits", () => {
  it("J8 a burst of twelve videos never has more workers than the ceiling, is launched in order of admission, and all of it ends", async () => {
    const brought: string[] = [];
    while (brought.length < 12) brought.push((await bringVideo(stack(), { clip: blink() })).actionKey);
    const before = fleet.requests.length;
    const processes = { max: 0 };
    const sampling = setInterval(() => {
      processes.max = Math.max(processes.max, workersBelow(stack().dataDir).length);
    }, 100);
    onTestFinished(() => clearInterval(sampling));

    await stack().control.dispatch();
    expect(await getMediaStatus(stack().site, stack().site.creator, brought.at(-1)!)).toMatchObject({
      waitingReason: "waiting-for-slot",
      placeInLine: expect.any(Number),
    });
    stack().schedule.resume();
    for (const actionKey of brought)
      await waitForJob(stack(), actionKey, ({ state }) => state === "processing-completed", 150);
    expect(processes.max).toBe(2);
    expect(fleet.aliveMax()).toBe(2);
    expect(fleet.requests.slice(before).map(({ actionKey }) => actionKey)).toEqual(brought);
    await expectIntact(stack());
  });
});

describe("the day's budget", () => {
  // What the shortest life of a worker costs is more than the day has.
  const poor = startFaultStackForFile({
    settings: { DAILY_BUDGET_USD: "0.01", WORKER_USD_PER_HOUR: "360" },
  });

  it("J8 a video beyond the day's budget waits, says so, and is processed the next day", async () => {
    // Just after midnight, so that the day doesn't end meanwhile.
    await advance(poor().db, 86_400 - ((Date.now() / 1000) % 86_400));
    const first = await bringVideo(poor());
    await expectSettled(poor(), first.actionKey, { state: "processing-completed", attempts: 1 });
    const { actionKey } = await bringVideo(poor());
    const waiting = await waitForJob(poor(), actionKey, (job) => job.waitingReason === "waiting-for-budget");
    expect(waiting).toMatchObject({ state: "file-processing-ready", launchCount: 0 });
    const status = await getMediaStatus(poor().site, poor().site.creator, actionKey);
    expect(describeMedia(status, { now: new Date() }).detail).toMatch(/^Today's budget .*is used up/);
    expect(await listLaunches(poor().db, actionKey)).toEqual([]);

    await advance(poor().db, 86_400);
    await expectSettled(poor(), actionKey, { state: "processing-completed", attempts: 1 });
  });
});
