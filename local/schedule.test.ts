import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { findJob } from "@reelkeep/db/jobs";
import { outboxChannel } from "@reelkeep/db/outbox";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { createActor, createTestContext, sendFile } from "@reelkeep/services/testing/context";
import pino from "pino";
import { expect, it, onTestFinished } from "vitest";
import { bundle, bundlePath } from "./bundle.ts";
import { createControl } from "./control.ts";
import { createLocalFleet } from "./fleet.ts";
import { openStackSession } from "./postgres/session.ts";
import { type Schedule, startSchedule } from "./schedule.ts";
import { readSettings } from "./settings.ts";
import { createTestDatabase } from "./testing/database.ts";
import { temporaryFolder } from "./testing/folder.ts";
import { startTestStorage } from "./testing/storage.ts";

it("J4 a stack that stops in the middle of a video takes the job back and starts nothing any more", async () => {
  await bundle();
  const dataDir = temporaryFolder();
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const storage = await startTestStorage();
  onTestFinished(() => storage.stop());
  const context = createTestContext(database.url, storage);
  const uploadLimits = { ...context.uploadLimits, multipartThresholdBytes: 1e9 };
  onTestFinished(() => context.close());

  const log = pino({ level: "silent" });
  let schedule: Schedule | undefined;
  const session = await openStackSession(database.url, outboxChannel, () => schedule?.nudge());
  onTestFinished(() => session.close());
  const fleet = createLocalFleet({
    script: bundlePath("worker"),
    dataDir,
    env: {
      DATABASE_URL: database.url,
      S3_BUCKET: storage.bucket,
      S3_ENDPOINT: storage.endpoint,
      S3_ACCESS_KEY_ID: storage.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: storage.credentials.secretAccessKey,
    },
    onGone: () => schedule?.nudge(),
  });
  onTestFinished(() => fleet.stopAll());
  schedule = startSchedule(
    createControl({ db: context.db, storage, fleet, settings: readSettings({}), log }),
    log,
  );
  onTestFinished(() => schedule?.stop());

  const actor = await createActor(context);
  const { actionKey } = await sendFile({ ...context, uploadLimits }, actor, makeVideo(dataDir));
  expect((await completeUpload(context, actor, actionKey)).status).toBe("file-processing-ready");
  while ((await findJob(context.db, actionKey))?.stage !== "encode") await sleep(100);

  await schedule.stop();
  await fleet.stopAll();
  // Twice what a launch takes, from the intent that the hand-back wrote to a claim.
  await sleep(2000);
  expect(await fleet.alive()).toEqual([]);
  expect(await listAttempts(context.db, actionKey)).toMatchObject([{ state: "handed-back" }]);
  expect(await findJob(context.db, actionKey)).toMatchObject({
    state: "file-processing-ready",
    launchCount: 0,
    provisioningToken: null,
  });
  expect(execFileSync("ps", ["-eo", "args="]).toString()).not.toContain(path.join(dataDir, "scratch"));
});

/** Long enough to be in the middle of. */
function makeVideo(folder: string): Uint8Array {
  const file = path.join(folder, "source.mp4");
  const input = ["-f", "lavfi", "-i", "testsrc2=s=1280x720:r=25:d=60"];
  const codec = ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "40", "-pix_fmt", "yuv420p"];
  execFileSync(process.env.FFMPEG_PATH || "ffmpeg", ["-v", "error", ...input, ...codec, file]);
  return readFileSync(file);
}
