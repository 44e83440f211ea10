import { findJob } from "@reelkeep/db/jobs";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { expect, it } from "vitest";
import { poll } from "./poll.ts";
import { startFaultStackForFile } from "./stack.ts";
import { bringVideo } from "./uploads.ts";

const stack = startFaultStackForFile({ paused: true });

it("an event that is told five times at once arrives, and one that is refused is told again", async () => {
  stack().events.repeat(5);
  const repeated = await bringVideo(stack(), { complete: false });
  await poll("it is admitted", () => findJob(stack().db, repeated.actionKey));
  stack().events.refuse();
  const refused = await bringVideo(stack(), { complete: false });
  expect(await findJob(stack().db, refused.actionKey)).toBeNull();
  stack().heal();
  await poll("it is admitted", () => findJob(stack().db, refused.actionKey));
});

it("a lost event is told to nobody", async () => {
  stack().events.lose();
  const { actionKey } = await bringVideo(stack(), { complete: false });
  await poll("it was told", () => stack().events.count() > 0);
  expect(await findJob(stack().db, actionKey)).toBeNull();
  await completeUpload(stack().site, stack().site.creator, actionKey);
  expect(await findJob(stack().db, actionKey)).not.toBeNull();
});
