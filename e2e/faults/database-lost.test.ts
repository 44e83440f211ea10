import type { Job } from "@reelkeep/db/jobs";
import { describe, expect, it } from "vitest";
import { expectIntact, expectSettled, waitForJob } from "./kit/invariants.ts";
import { poll } from "./kit/poll.ts";
import { commitAfter } from "./kit/postgres-statement.ts";
import { findWorker } from "./kit/processes.ts";
import { type FaultStack, startFaultStackForFile } from "./kit/stack.ts";
import {
  beforeClaim,
  beforeDownload,
  beforePublish,
  claimCommit,
  claiming,
  encoding,
  publishCommit,
  publishing,
  uploading,
  verifying,
} from "./kit/stops.ts";
import { bringVideo, longClip } from "./kit/uploads.ts";

const isCompleted = ({ state }: Job) => state === "processing-completed";

const restart = async ({ postgresServer }: FaultStack, end: "stop" | "kill") => {
  await postgresServer[end]();
  await postgresServer.start();
};

describe("a lease that outlives restarts", () => {
  const stack = startFaultStackForFile({ settings: { LEASE_SECONDS: "30", IDLE_WORKER_SECONDS: "600" } });

  it.each([
    {
      what: "all connections to the database are cut",
      lose: async ({ database }: FaultStack) => database.cutAll(),
    },
    { what: "the database is restarted", lose: (broken: FaultStack) => restart(broken, "stop") },
    { what: "the database is killed and started", lose: (broken: FaultStack) => restart(broken, "kill") },
  ])(
    "J2 J3 $what at every stage of one job, from claim to after publication: it costs no attempt",
    async ({ lose }) => {
      const places = [
        beforeClaim,
        claiming,
        beforeDownload,
        encoding,
        uploading,
        verifying,
        beforePublish,
        publishing,
      ];
      const [first, ...later] = places;
      let stop = first!(stack());
      const { actionKey } = await bringVideo(stack(), { clip: longClip() });
      for (const place of [...later, null]) {
        await stop.caught();
        await lose(stack());
        const next = place?.(stack());
        stop.release();
        if (next) stop = next;
      }
      await waitForJob(stack(), actionKey, isCompleted);
      await lose(stack());

      await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    },
  );
});

describe("a lease that ends meanwhile", () => {
  const stack = startFaultStackForFile({ settings: { LEASE_SECONDS: "6", IDLE_WORKER_SECONDS: "600" } });

  it.each([
    { when: "before it downloads", stopAt: beforeDownload },
    { when: "while it encodes", stopAt: encoding },
    { when: "while it uploads", stopAt: uploading },
    { when: "while it verifies", stopAt: verifying },
    { when: "before it publishes", stopAt: beforePublish },
  ])(
    "J3 J6 the database falls silent $when, for longer than the lease: the worker leaves by itself, and another follows",
    async ({ stopAt }) => {
      const stop = stopAt(stack());
      const { actionKey } = await bringVideo(stack(), { clip: longClip() });
      await stop.caught();
      const worker = await findWorker(actionKey);
      stack().database.swallow();
      await worker.untilGone(60);
      expect(worker.encoderPids()).toEqual([]);
      stack().heal();

      await expectSettled(stack(), actionKey, {
        state: "processing-completed",
        attempts: 2,
        attemptStates: ["lease-expired", "succeeded"],
      });
    },
  );

  it("P1 J3 the database falls silent after the publication's COMMIT: the worker leaves, and what it published stays", async () => {
    const silent = stack().database.loseAnswer(publishCommit, { silent: true });
    const { actionKey } = await bringVideo(stack());
    await silent.caught();
    stack().database.swallow();
    await (await findWorker(actionKey)).untilGone(60);
    stack().heal();

    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  });

  it("J1 J6 the database falls silent after the claim's COMMIT: another follows, and the first finds the job finished", async () => {
    const silent = stack().database.loseAnswer(claimCommit, { silent: true });
    const { actionKey } = await bringVideo(stack());
    await silent.caught();
    const first = await findWorker(actionKey);
    await waitForJob(stack(), actionKey, isCompleted);
    expect(first.isAlive()).toBe(true);
    stack().heal();
    await first.untilGone();

    await expectSettled(stack(), actionKey, {
      state: "processing-completed",
      attempts: 2,
      attemptStates: ["lease-expired", "succeeded"],
    });
  });

  it.each([
    { what: "is cut before", lose: "cutBefore" },
    { what: "is cut, and its answer lost, after", lose: "loseAnswer" },
  ] as const)(
    "J6 the sweep's connection $what its COMMIT of an ended lease: the lease is returned once",
    async ({ lose }) => {
      const lost = stack().database[lose](
        commitAfter({ by: /^reelkeep-control$/, text: /^update "job_attempts"/ }),
      );
      const stop = beforeDownload(stack());
      const { actionKey } = await bringVideo(stack());
      await stop.caught();
      const worker = await findWorker(actionKey);
      await worker.kill();
      stop.cut();
      await lost.caught();

      await expectSettled(stack(), actionKey, {
        state: "processing-completed",
        attempts: 2,
        attemptStates: ["lease-expired", "succeeded"],
      });
    },
  );

  it("J6 J7 sweeps and dispatches meet a database that is away, then one that is silent, and go on once it is back", {
    tags: ["short"],
  }, async () => {
    const { database, control } = stack();
    database.cutAll();
    database.refuse();
    for (const sweep of [control.dispatch, control.recover, control.expireUploads, control.cleanStorage])
      await expect(sweep()).rejects.toThrow();
    stack().heal();
    database.swallow();
    const silent = Promise.allSettled([control.dispatch(), control.recover()]);
    await poll("both ask in vain", () => database.connectionCount(/^reelkeep-control$/) >= 2);
    stack().heal();
    await silent;

    const { actionKey } = await bringVideo(stack());
    await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
    await expectIntact(stack());
  });
});
