import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { AppError } from "@reelkeep/core/errors";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { findJob } from "@reelkeep/db/jobs";
import { findVersionOfAttempt } from "@reelkeep/db/media-versions";
import { bundle, bundlePath } from "@reelkeep/local/bundle";
import { createTestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage } from "@reelkeep/local/testing/storage";
import { getMediaStatus } from "@reelkeep/services/get-media-status";
import { recoverJobs } from "@reelkeep/services/recover-jobs";
import pino from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { cpuEngine, nvencEngine } from "./ffmpeg/engines.ts";
import { runJob, type WorkerContext } from "./run-job.ts";
import { testTools } from "./testing/media.ts";
import { startTcpProxy } from "./testing/tcp-proxy.ts";
import { encoding, ended, gone, openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let short: Uint8Array;
let long: Uint8Array;

beforeAll(async () => {
  await bundle();
  shop = await openWorkshop({
    database: await createTestDatabase(),
    storage: await startTestStorage(),
    script: bundlePath("worker"),
    policy: { leaseSeconds: 4, heartbeatSeconds: 4 / 3 },
  });
  short = shop.makeVideo("short.mp4", 8, "320x180");
  long = shop.makeVideo("long.mp4", 90, "1280x720");
});
afterEach(() => shop.endWorkers());
afterAll(() => shop.close());

/** What a run in this process stands on; its log goes to `lines`. */
function workerContext(lines: string[] = []): WorkerContext {
  return {
    ...shop.context,
    tools: testTools,
    engine: cpuEngine,
    scratchFolder: shop.scratchFolder,
    workerId: randomUUID(),
    machineId: null,
    log: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    leaving: new AbortController().signal,
  };
}

describe("a worker process", () => {
  it("J1 J3 M7 P1 takes an admitted job from its claim to a published, complete version and leaves nothing behind", async () => {
    const actionKey = await shop.admit(short);
    const worker = await shop.launch();
    const job = await shop.until(actionKey, ended);
    expect(job).toMatchObject({ state: "processing-completed", attemptCount: 1, errorCode: null });
    const [attempt] = await listAttempts(shop.context.db, actionKey);
    const version = await findVersionOfAttempt(shop.context.db, attempt!.id);
    expect(version).toMatchObject({ versionNumber: 1, width: 320, height: 180, hasAudio: true });
    expect(version!.durationSeconds).toBeCloseTo(8, 1);
    for (const { name, sizeBytes, etag } of version!.inventory)
      expect(await shop.context.store.head(version!.prefix + name), name).toMatchObject({ sizeBytes, etag });
    const status = await getMediaStatus(shop.context, shop.creator, actionKey);
    expect(Object.values(status.processByResolution)).toEqual([`${version!.prefix}240p/playlist.m3u8`]);
    expect(status.progress.renditions).toMatchObject([{ name: "240p", complete: true, fraction: 1 }]);
    await gone(worker);
    expect(worker.process.exitCode).toBe(0);
    expect(readdirSync(shop.scratchFolder)).toEqual([]);
  });

  it("J6 J2 M9 killed in the middle of encoding, its job goes to a second attempt, which finishes", async () => {
    const actionKey = await shop.admit(long);
    const worker = await shop.launch();
    await shop.until(actionKey, encoding);
    worker.process.kill("SIGKILL");
    await gone(worker);
    // The kernel ends FFmpeg with its parent; where it can't, the fleet does.
    if (testTools.cage.endsWithParent) await vi.waitFor(() => expect(shop.runningInScratch()).toBe(false));
    expect(await recoverJobs(shop.control)).toMatchObject({ expiredLeases: 0 });
    await shop.recover();
    const second = await shop.launch();
    expect(await shop.until(actionKey, ended)).toMatchObject({
      state: "processing-completed",
      attemptCount: 2,
    });
    const attempts = await listAttempts(shop.context.db, actionKey);
    expect(attempts.map(({ state }) => state)).toEqual(["succeeded", "lease-expired"]);
    const version = await findVersionOfAttempt(shop.context.db, attempts[0]!.id);
    expect(version!.prefix).toMatch(/attempt-2\/$/);
    await gone(second);
    expect(readdirSync(shop.scratchFolder)).toEqual([]);
    const done = JSON.parse(second.output.trim().split("\n").at(-1)!);
    // The whole process, lease thread included, whatever the file's size.
    expect(done.peakRssBytes).toBeLessThan(150_000_000);
  }, 180_000);

  it("J4 asked to stop, hands its lease back at once, which costs no attempt", async () => {
    const actionKey = await shop.admit(long);
    const worker = await shop.launch();
    await shop.until(actionKey, encoding);
    worker.process.kill("SIGTERM");
    const job = await shop.until(actionKey, ({ state }) => state === "file-processing-ready");
    expect(job).toMatchObject({ attemptCount: 1, attemptLimit: 4, waitingReason: "queued" });
    expect(await listAttempts(shop.context.db, actionKey)).toMatchObject([{ state: "handed-back" }]);
    await gone(worker);
  });

  it("J3 a worker whose job was superseded stops, kills FFmpeg and writes nothing more", async () => {
    const actionKey = await shop.admit(long);
    const worker = await shop.launch();
    await shop.until(actionKey, encoding);
    expect(shop.runningInScratch()).toBe(true);
    await shop.supersede(actionKey);
    await gone(worker);
    expect(shop.runningInScratch()).toBe(false);
    expect(await findJob(shop.context.db, actionKey)).toMatchObject({
      state: "cancelled",
      cancelledBy: "superseded",
    });
    expect(readdirSync(shop.scratchFolder)).toEqual([]);
  });

  it("J3 J4 a worker whose supervisor has died ends FFmpeg and hands its lease back", async () => {
    const actionKey = await shop.admit(long);
    const worker = await shop.launch();
    await shop.until(actionKey, encoding);
    worker.process.disconnect();
    await gone(worker);
    expect(shop.runningInScratch()).toBe(false);
    expect(await listAttempts(shop.context.db, actionKey)).toMatchObject([{ state: "handed-back" }]);
  });

  it("J3 a worker whose database falls silent ends FFmpeg and leaves", async () => {
    const proxy = await startTcpProxy(shop.database.url);
    onTestFinished(proxy.close);
    const actionKey = await shop.admit(long);
    const worker = await shop.launch({ DATABASE_URL: proxy.url });
    await shop.until(actionKey, encoding);
    proxy.swallow();
    await gone(worker);
    expect(worker.output).toContain('"outcome":"lease-lost"');
    expect(shop.runningInScratch()).toBe(false);
  });

  it("U5 a source that was overwritten after admission ends the job as source-changed", async () => {
    const actionKey = await shop.admit(short);
    const { sourceKey } = (await findJob(shop.context.db, actionKey))!;
    await shop.context.store.putText(sourceKey, "another file", { contentType: "video/mp4" });
    await shop.launch();
    expect(await shop.until(actionKey, ended)).toMatchObject({
      state: "failed",
      errorCode: "source-changed",
      attemptCount: 1,
    });
  });

  it("M1 J5 a file that can't become a video fails cheaply, for good, with its code", async () => {
    const cut = short.slice(0, 4000);
    const actionKey = await shop.admit(cut);
    await shop.launch();
    const job = await shop.until(actionKey, ended);
    expect(job).toMatchObject({ state: "failed", attemptCount: 1, errorCode: "unreadable-file" });
    const [attempt] = await listAttempts(shop.context.db, actionKey);
    expect(attempt).toMatchObject({ state: "failed", stage: "probe", errorCode: "unreadable-file" });
  });
});

describe("a run", () => {
  const unknown = () => ({ actionKey: randomUUID(), generation: 1 });

  it("J4 told to leave before its claim, claims nothing", async () => {
    const { actionKey } = await admitUnlaunched();
    const outcome = await runJob(
      { ...workerContext(), leaving: AbortSignal.abort() },
      { actionKey, generation: 1 },
    );
    expect(outcome).toBe("leaving");
    expect(await findJob(shop.context.db, actionKey)).toMatchObject({
      state: "file-processing-ready",
      attemptCount: 0,
    });
  });

  it("J1 started for a job that doesn't exist, says so as an error", async () => {
    const lines: string[] = [];
    expect(await runJob(workerContext(lines), unknown())).toBe("missing");
    expect(lines.map((line) => JSON.parse(line).level)).toEqual([pino.levels.values.error]);
  });

  it("J5 a download that storage breaks off is tried again and costs no attempt", async () => {
    const { actionKey } = await admitUnlaunched();
    let downloads = 0;
    const store: WorkerContext["store"] = {
      ...shop.context.store,
      download: async (...words) => {
        if (++downloads === 1) throw new AppError("storage-unavailable");
        await shop.context.store.download(...words);
      },
    };
    expect(await runJob({ ...workerContext(), store }, { actionKey, generation: 1 })).toBe("published");
    expect(await findJob(shop.context.db, actionKey)).toMatchObject({ attemptCount: 1 });
  });

  it.skipIf(existsSync("/dev/nvidiactl"))(
    "M6 a card that fails costs no attempt: the processor takes over, which the attempt and the version say",
    async () => {
      const { actionKey } = await admitUnlaunched();
      const lines: string[] = [];
      const context = { ...workerContext(lines), engine: nvencEngine };
      expect(await runJob(context, { actionKey, generation: 1 })).toBe("published");
      const [attempt, ...others] = await listAttempts(shop.context.db, actionKey);
      expect(others).toEqual([]);
      expect(attempt).toMatchObject({ state: "succeeded", processor: "ffmpeg-cpu" });
      const version = await findVersionOfAttempt(shop.context.db, attempt!.id);
      expect(version).toMatchObject({ processor: "ffmpeg-cpu" });
      const warnings = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
      expect(warnings).toEqual([
        expect.objectContaining({ err: expect.objectContaining({ code: "encoder-failed" }) }),
      ]);
    },
  );

  it("M6 an attempt says what makes its pictures while it makes them", async () => {
    const { actionKey } = await admitUnlaunched();
    const leaving = new AbortController();
    const context = { ...workerContext(), leaving: leaving.signal };
    const store: WorkerContext["store"] = {
      ...shop.context.store,
      putFile: async (...words) => {
        leaving.abort(new AppError("worker-leaving"));
        return shop.context.store.putFile(...words);
      },
    };
    expect(await runJob({ ...context, store }, { actionKey, generation: 1 })).toBe("handed-back");
    const [attempt] = await listAttempts(shop.context.db, actionKey);
    expect(attempt).toMatchObject({ state: "handed-back", processor: "ffmpeg-cpu" });
  });

  /** An admitted job that only this test's own run takes. */
  async function admitUnlaunched(): Promise<{ actionKey: string }> {
    const actionKey = await shop.admit(short);
    onTestFinished(() => shop.supersede(actionKey));
    return { actionKey };
  }
});
