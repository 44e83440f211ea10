import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { attemptCleanupDelaySeconds, secondLookSeconds } from "@reelkeep/core/job/policy";
import { enterDeletion } from "@reelkeep/db/deletion-ledger";
import { advance } from "@reelkeep/db/testing/clock";
import { listDeletions, listVersionsOfJob } from "@reelkeep/db/testing/evidence";
import { whenGone } from "@reelkeep/local/child";
import { expect, it } from "vitest";
import type { CleanStorageTask } from "./kit/clean-storage-process.ts";
import { attemptsInOrder, expectIntact, expectSettled } from "./kit/invariants.ts";
import { findWorker } from "./kit/processes.ts";
import { startFaultStackForFile } from "./kit/stack.ts";
import { bringVideo } from "./kit/uploads.ts";

const stack = startFaultStackForFile({ paused: true, settings: { LEASE_SECONDS: "8" } });

/** Longer than the sweep holds an entry. */
const holdSeconds = 600;
const by = /^reelkeep-control/;
const deleting = { by: "control", method: "POST", parameter: "delete" } as const;
const noting = { by, text: /^update "deletion_ledger" set .*"deleted_at" = / };

/**
 * A published video whose first attempt died and left two objects: their deletion is due. `kept` is the prefix of
 * the published version, `left` that of the dead attempt.
 */
async function leaveOutput() {
  const source = stack().storage.hold({ by: "workers", method: "GET", key: /^uploads\// });
  const { actionKey } = await bringVideo(stack());
  await stack().control.dispatch();
  await source.caught();
  const [dead] = await attemptsInOrder(stack().db, actionKey);
  const left = dead!.outputPrefix;
  for (const name of ["master.m3u8", "240p/segment_00001.ts"]) await write(left + name);
  await (await findWorker(actionKey)).kill();
  source.cut();
  await advance(stack().db, stack().settings.LEASE_SECONDS);
  await stack().control.recover();
  await advance(stack().db, stack().settings.RETRY_BACKOFF_SECONDS);
  await stack().control.dispatch();
  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 2 });
  const [version] = await listVersionsOfJob(stack().db, actionKey);
  await advance(stack().db, attemptCleanupDelaySeconds);
  return { left, kept: version!.prefix };
}

const write = (key: string) => stack().store.putText(key, "left behind", { contentType: "text/plain" });

async function keysBelow(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of stack().store.list(prefix)) keys.push(key);
  return keys;
}

const entryOf = async (target: string) => (await listDeletions(stack().db, target)).at(-1)!;

/** The sweep's process; it may be killed. */
function startSweep() {
  const script = fileURLToPath(new URL("kit/clean-storage-process.ts", import.meta.url));
  const task: CleanStorageTask = {
    databaseUrl: stack().database.url,
    storage: { ...stack().bucket, endpoint: stack().storage.url("control") },
  };
  const child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: "inherit" });
  return {
    async kill() {
      child.kill("SIGKILL");
      await whenGone(child);
    },
  };
}

/** After a sweep that died: others leave its entry alone while it is held, then the next one does it, and looks again. */
async function expectFinished({ left, kept }: { left: string; kept: string }): Promise<void> {
  expect(await entryOf(left), "not done").toMatchObject({ deletedAt: null, confirmedAt: null });
  await stack().control.cleanStorage();
  expect(await entryOf(left), "still held").toMatchObject({ deletedAt: null, confirmedAt: null });
  await advance(stack().db, holdSeconds);
  await stack().control.cleanStorage();
  expect(await entryOf(left)).toMatchObject({ deletedAt: expect.any(Date), confirmedAt: null });
  await expectSecondLook({ left, kept });
}

async function expectSecondLook({ left, kept }: { left: string; kept: string }): Promise<void> {
  await advance(stack().db, secondLookSeconds);
  await stack().control.cleanStorage();
  expect(await entryOf(left)).toMatchObject({ confirmedAt: expect.any(Date) });
  expect(await keysBelow(left)).toEqual([]);
  expect((await keysBelow(kept)).length).toBeGreaterThan(0);
  await expectIntact(stack());
}

it("J5 a deletion sweep that is killed before storage hears of it has deleted nothing; its entry is due again", async () => {
  const output = await leaveOutput();
  const held = stack().storage.hold(deleting);
  const sweep = startSweep();
  await held.caught();
  await sweep.kill();
  held.cut();
  expect(await keysBelow(output.left)).toHaveLength(2);
  await expectFinished(output);
});

it("J5 a deletion sweep that is killed between the deletion and its note is repeated, and deletes nothing that is needed", {
  tags: ["short"],
}, async () => {
  const output = await leaveOutput();
  const held = stack().database.hold(noting);
  const sweep = startSweep();
  await held.caught();
  await sweep.kill();
  held.cut();
  expect(await keysBelow(output.left)).toEqual([]);
  await expectFinished(output);
});

it("J5 a deletion sweep that loses its database between the deletion and its note fails, and is repeated", async () => {
  const output = await leaveOutput();
  const cut = stack().database.cutBefore(noting);
  await expect(stack().control.cleanStorage()).rejects.toThrow();
  expect(cut.count()).toBe(1);
  expect(await keysBelow(output.left)).toEqual([]);
  await expectFinished(output);
});

it("J5 a deletion whose note was written, and the answer lost, waits for its second look", async () => {
  const output = await leaveOutput();
  stack().database.loseAnswer(noting);
  await expect(stack().control.cleanStorage()).rejects.toThrow();
  expect(await entryOf(output.left)).toMatchObject({ deletedAt: expect.any(Date), confirmedAt: null });
  await expectSecondLook(output);
});

it("J5 a deletion that storage refuses is told, put off and made later", async () => {
  const output = await leaveOutput();
  const refused = stack().storage.answer(503, deleting, { times: 100 });
  await stack().control.cleanStorage();
  refused.disarm();
  expect(await entryOf(output.left)).toMatchObject({
    deletedAt: null,
    failureCount: 1,
    lastError: expect.any(String),
  });
  expect(await keysBelow(output.left)).toHaveLength(2);
  await advance(stack().db, 10);
  await stack().control.cleanStorage();
  expect(await entryOf(output.left)).toMatchObject({ deletedAt: expect.any(Date), lastError: null });
  await expectSecondLook(output);
});

it("J5 a deletion that storage has done, and the answer lost, is asked again and done", async () => {
  const output = await leaveOutput();
  const lost = stack().storage.reset("answer-lost", deleting);
  await stack().control.cleanStorage();
  expect(lost.count()).toBe(1);
  expect(await entryOf(output.left)).toMatchObject({ deletedAt: expect.any(Date), failureCount: 0 });
  await expectSecondLook(output);
});

it("J5 what an orphan writes after the first look is removed by the second, a day later", async () => {
  const output = await leaveOutput();
  await stack().control.cleanStorage();
  expect(await keysBelow(output.left)).toEqual([]);
  const late = `${output.left}240p/segment_00002.ts`;
  await write(late);
  await advance(stack().db, secondLookSeconds - 60);
  await stack().control.cleanStorage();
  expect(await keysBelow(output.left), "not before its time").toEqual([late]);
  await expectSecondLook(output);
});

it("J5 P1 a published version that is entered for deletion is never touched", async () => {
  const output = await leaveOutput();
  const before = await keysBelow(output.kept);
  const wrong = { kind: "prefix", reason: "by mistake", delaySeconds: 0 } as const;
  await enterDeletion(stack().db, { ...wrong, target: output.kept });
  // The whole job's folder: the version lies below it.
  const folder = output.kept.replace(/attempt-\d+\/$/, "");
  await enterDeletion(stack().db, { ...wrong, target: folder });
  await stack().control.cleanStorage();
  expect(await keysBelow(output.kept)).toEqual(before);
  for (const target of [output.kept, folder])
    expect(await entryOf(target)).toMatchObject({
      deletedAt: null,
      confirmedAt: expect.any(Date),
      lastError: "kept: still needed",
    });
  await expectSecondLook(output);
});

it("J5 what a running attempt has stored is never touched", async () => {
  const stored = stack().storage.hold({ by: "workers", method: "GET", parameter: "list-type" });
  const { actionKey } = await bringVideo(stack());
  await stack().control.dispatch();
  await stored.caught();
  const [running] = await attemptsInOrder(stack().db, actionKey);
  const before = await keysBelow(running!.outputPrefix);
  expect(before.length).toBeGreaterThan(0);
  await enterDeletion(stack().db, {
    kind: "prefix",
    target: running!.outputPrefix,
    reason: "by mistake",
    delaySeconds: 0,
  });
  await stack().control.cleanStorage();
  expect(await keysBelow(running!.outputPrefix)).toEqual(before);
  stored.release();
  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
});
