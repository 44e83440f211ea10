import { findJob } from "@reelkeep/db/jobs";
import { travel } from "@reelkeep/db/testing/clock";
import { findUpload } from "@reelkeep/db/uploads";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { authorizeUpload } from "@reelkeep/services/authorize-upload";
import { signUploadRequest } from "@reelkeep/services/sign-upload-request";
import { createActor, sendFile, uploadRequest } from "@reelkeep/services/testing/context";
import { afterEach, expect, it } from "vitest";
import { expectIntact, expectSettled } from "./kit/invariants.ts";
import { poll } from "./kit/poll.ts";
import { startFaultStackForFile } from "./kit/stack.ts";
import { beforeDownload } from "./kit/stops.ts";
import { type BroughtVideo, bringVideo, tinyClip } from "./kit/uploads.ts";

const stack = startFaultStackForFile({ settings: { LEASE_SECONDS: "6" } });
afterEach(() => travel(stack().db, 0));

const dayAndMore = 24 * 3600 + 60;
const once = { state: "processing-completed", attempts: 1 } as const;

it("U5 a hundred storage events at once, repeated and out of order, give each video one job and one version", {
  tags: ["short"],
}, async () => {
  stack().events.lose();
  const videos: BroughtVideo[] = [];
  for (let i = 0; i < 4; i++) videos.push(await bringVideo(stack(), { complete: false }));
  const events = Array.from({ length: 25 }, () => videos.toReversed()).flat();
  await Promise.all(events.map(({ key }) => stack().control.onObjectCreated(key)));

  for (const { actionKey } of videos) await expectSettled(stack(), actionKey, once);
});

it("U5 the browser's complete and storage's event, twenty times each at once, are one admission", async () => {
  const { site } = stack();
  stack().events.repeat(20);
  const clip = tinyClip();
  const upload = await sendFile(site, site.creator, clip, uploadRequest(clip));
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => completeUpload(site, site.creator, upload.actionKey)),
  );
  expect(new Set(answers.map(({ failure }) => failure))).toEqual(new Set([null]));

  await expectSettled(stack(), upload.actionKey, once);
});

it("U5 an event that nobody could take is told again, and admits", async () => {
  stack().events.refuse();
  const { actionKey } = await bringVideo(stack(), { complete: false });
  expect((await findUpload(stack().db, actionKey))?.state).toBe("url-created");
  stack().events.heal();

  await expectSettled(stack(), actionKey, once);
});

it("U5 U7 a file whose event and complete were both lost is admitted by the sweep, which looks before it ends an upload", async () => {
  stack().events.lose();
  const { actionKey } = await bringVideo(stack(), { complete: false });
  await travel(stack().db, dayAndMore);
  await stack().control.expireUploads();

  await expectSettled(stack(), actionKey, once);
});

it("U7 an upload that expired gets no job when its file and its event arrive late, and the file is removed", async () => {
  const { site } = stack();
  const clip = tinyClip();
  const { actionKey, key } = await authorizeUpload(site, site.creator, uploadRequest(clip));
  const late = await signUploadRequest(site, site.creator, actionKey, { method: "PUT", key });
  await travel(stack().db, dayAndMore);
  await stack().control.expireUploads();
  expect((await findUpload(stack().db, actionKey))?.state).toBe("expired");
  await stack().control.cleanStorage();

  const answer = await fetch(late.url, { method: "PUT", headers: late.headers, body: new Uint8Array(clip) });
  expect(answer.ok).toBe(true);
  await poll("the late file is gone", async () => {
    await stack().control.cleanStorage();
    return (await stack().store.head(key)) === null;
  });
  expect(await findJob(stack().db, actionKey)).toBeNull();
  await expect(completeUpload(site, site.creator, actionKey)).rejects.toMatchObject({
    code: "upload-expired",
  });
  await expectIntact(stack());
});

it("U5 J2 a source that is overwritten after its admission is never processed: the job ends as source-changed", async () => {
  const stop = beforeDownload(stack());
  const { actionKey, key } = await bringVideo(stack());
  await stop.caught();
  await stack().store.putText(key, "something else", { contentType: "video/mp4" });
  stop.release();

  await expectSettled(stack(), actionKey, {
    state: "failed",
    attempts: 1,
    errorCode: "source-changed",
  });
});

it("U5 D5 events of a foreign key and of nobody's upload start nothing", async () => {
  const stranger = await createActor(stack().site);
  const jobless = `uploads/${stranger.userId}/00000000-0000-4000-8000-000000000000/source.mp4`;
  await stack().store.putText(jobless, "not announced", { contentType: "video/mp4" });
  for (const key of [jobless, "uploads/../processed/x", "processed/x/master.m3u8", ""])
    await stack().control.onObjectCreated(key);
  await poll("what nobody announced is gone", async () => {
    await stack().control.cleanStorage();
    return (await stack().store.head(jobless)) === null;
  });
  await expectIntact(stack());
});
