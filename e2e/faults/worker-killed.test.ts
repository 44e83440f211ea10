import { expect, it } from "vitest";
import { expectSettled } from "./kit/invariants.ts";
import { commitAfter } from "./kit/postgres-statement.ts";
import { findWorker } from "./kit/processes.ts";
import { startFaultStackForFile } from "./kit/stack.ts";
import { bringVideo, longClip } from "./kit/uploads.ts";

const stack = startFaultStackForFile();

it("J6 a worker killed while it encodes is followed by another attempt, and nothing of its own is published", async () => {
  const { actionKey } = await bringVideo(stack(), { clip: longClip() });
  const worker = await findWorker(actionKey);
  await worker.untilEncoding();
  await worker.kill();

  await expectSettled(stack(), actionKey, {
    state: "processing-completed",
    attempts: 2,
    attemptStates: ["lease-expired", "succeeded"],
  });
});

it("P1 J2 the answer to the publication's COMMIT is lost: the worker asks again, and it is the same version", async () => {
  const lost = stack().database.loseAnswer(commitAfter({ text: /insert into "media_versions"/ }));
  const { actionKey } = await bringVideo(stack());
  const { by } = await lost.caught();
  expect(by).toMatch(/^reelkeep-worker /);

  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
});

it("P1 J6 a worker killed between its publication's last statement and COMMIT publishes nothing; its successor does", async () => {
  const held = stack().database.hold(commitAfter({ text: /insert into "media_versions"/ }));
  const { actionKey } = await bringVideo(stack());
  await held.caught();
  const worker = await findWorker(actionKey);
  await worker.kill();
  held.cut();

  await expectSettled(stack(), actionKey, {
    state: "processing-completed",
    attempts: 2,
    attemptStates: ["lease-expired", "succeeded"],
  });
});
