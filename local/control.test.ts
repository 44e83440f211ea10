import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { type OpenDatabase, openDatabase } from "@reelkeep/db/client";
import { beginLaunch, recordLaunch } from "@reelkeep/db/job-launches";
import { findJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import { seedJob } from "@reelkeep/db/testing/seed";
import pino from "pino";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { type Control, createControl } from "./control.ts";
import { createLocalFleet, type LocalFleet } from "./fleet.ts";
import { readSettings } from "./settings.ts";
import { createTestDatabase, type TestDatabase } from "./testing/database.ts";
import { temporaryFolder } from "./testing/folder.ts";

let database: TestDatabase;
let open: OpenDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  open = openDatabase(database.url);
});
afterAll(async () => {
  await open.close();
  await database.drop();
});
afterEach(() => open.db.execute("TRUNCATE jobs CASCADE"));

/** A stack's control whose workers run `body`. Launches that nobody claims last an hour. */
function controlOf(body: string): { control: Control; fleet: LocalFleet } {
  const dataDir = temporaryFolder();
  const script = path.join(dataDir, "worker.mjs");
  writeFileSync(script, body);
  const fleet = createLocalFleet({ script, dataDir, env: {} });
  onTestFinished(() => fleet.stopAll());
  const control = createControl({
    db: open.db,
    storage: { bucket: "none", region: "us-east-1" },
    fleet,
    settings: readSettings({ LAUNCH_SECONDS: "3600" }),
    log: pino({ level: "silent" }),
  });
  return { control, fleet };
}

async function waitingJob(): Promise<string> {
  const { actionKey } = (await seedJob(open.db)).job;
  await open.db.transaction((tx) => writeOutbox(tx, { kind: "launch-worker", actionKey, generation: 1 }));
  return actionKey;
}

it("J6 a worker that dies before its claim is replaced at once, and after three the job fails", async () => {
  const { control, fleet } = controlOf("process.exit(1);");
  const actionKey = await waitingJob();
  for (const launchCount of [1, 2, 3]) {
    await control.dispatch();
    expect(await findJob(open.db, actionKey)).toMatchObject({ launchCount, waitingReason: "launching" });
    await vi.waitFor(async () => expect(await fleet.alive()).toEqual([]), 20_000);
  }
  await control.dispatch();
  expect(await findJob(open.db, actionKey)).toMatchObject({
    state: "failed",
    errorCode: "worker-never-started",
  });
});

it("J6 a worker that is on its way to its claim is left alone", async () => {
  const { control } = controlOf('process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 1000);');
  const actionKey = await waitingJob();
  await control.dispatch();
  const launched = await findJob(open.db, actionKey);
  await control.dispatch();
  expect(await findJob(open.db, actionKey)).toEqual(launched);
});

it("J6 a launch of a stack that was killed doesn't hold up the next stack", async () => {
  const actionKey = (await seedJob(open.db)).job.actionKey;
  const former = { actionKey, provisioningToken: randomUUID() };
  await open.db.transaction((tx) => beginLaunch(tx, { ...former, generation: 1 }));
  const machineId = `local-${former.provisioningToken}`;
  const machine = { machineId, machineType: "local-process", usdPerHour: 0 };
  await recordLaunch(open.db, { ...former, machine });
  const { control, fleet } = controlOf(
    'process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 1000);',
  );
  await control.dispatch();
  const launched = (await findJob(open.db, actionKey))!;
  expect(launched.machineId).not.toBe(machineId);
  expect(await fleet.alive()).toMatchObject([{ machineId: launched.machineId }]);
});
