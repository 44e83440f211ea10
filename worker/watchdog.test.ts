/** What becomes of an attempt whose worker, or a part of it, stands still or breaks. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { listAttempts } from "@reelkeep/db/job-attempts";
import { findJob, type Job } from "@reelkeep/db/jobs";
import { bundle, bundlePath } from "@reelkeep/local/bundle";
import { createTestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage } from "@reelkeep/local/testing/storage";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { faultsIn } from "./testing/faults.ts";
import { testTools } from "./testing/media.ts";
import { startTcpProxy } from "./testing/tcp-proxy.ts";
import { ended, gone, openWorkshop, type TestWorker, type Workshop } from "./testing/workshop.ts";

const leaseSeconds = 4;
const stallSeconds = 3;
let shop: Workshop;
let short: Uint8Array;
let long: Uint8Array;
beforeAll(async () => {
  await bundle();
  shop = await openWorkshop({
    database: await createTestDatabase(),
    storage: await startTestStorage(),
    script: bundlePath("worker"),
    policy: { leaseSeconds, heartbeatSeconds: leaseSeconds / 3 },
  });
  short = shop.makeVideo("short.mp4", 4, "160x90");
  long = shop.makeVideo("long.mp4", 60, "1280x720");
});
afterEach(() => shop.endWorkers());
afterAll(() => shop.close());

const faults = () => faultsIn(shop.makeFolder());
const claimed = (job: Job) => job.state === "job-received";
const waitingAgain = (job: Job) => job.state === "file-processing-ready" && job.attemptCount > 0;

/** The worker's encoder; FFprobe and posters are other programs or have no progress to tell. */
async function encoderOf(worker: TestWorker): Promise<number> {
  return vi.waitFor(
    () => {
      // The cage's own processes have FFmpeg's words too, after theirs.
      const encoder = new RegExp(
        `^ *(\\d+) (?:\\S*/)?ffmpeg .*-progress.*/reelkeep-${worker.process.pid}-`,
        "m",
      );
      return Number(encoder.exec(execFileSync("ps", ["-eo", "pid=,args="]).toString())![1]);
    },
    { timeout: 30_000, interval: 50 },
  );
}

const outcomeOf = (worker: TestWorker) => /"outcome":"([\w-]+)"/.exec(worker.output)?.[1];

const own = ["i-0123456789abcdef0"];

/** EC2 and its instance metadata, as far as a worker that leaves needs them; answers the instances it ended. */
async function startEc2(status = 200) {
  const endedInstances: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const ending = new URLSearchParams(body).get("InstanceId.1");
    if (request.url === "/latest/api/token") return response.end("secret");
    if (request.url === "/latest/meta-data/instance-id") return response.end("i-0123456789abcdef0");
    if (ending) endedInstances.push(ending);
    return response.writeHead(status).end("<TerminateInstancesResponse/>");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    MACHINE_KIND: "ec2",
    AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
    AWS_ENDPOINT_URL_EC2: url,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
  };
  return { endedInstances, env };
}

/** As on a system that lets nobody have namespaces. */
function pathWithoutCage(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-no-cage-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const program of ["bwrap", "unshare"])
    writeFileSync(path.join(folder, program), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  return `${folder}:${process.env.PATH}`;
}

describe("a main thread that blocks", () => {
  it("J12 J3 for longer than its lease, and less than a stall, keeps the job and finishes it", async () => {
    const actionKey = await shop.admit(short);
    const { env, block } = faults();
    const worker = await shop.launch(env);
    await shop.until(actionKey, claimed);
    block("main", 1.5 * leaseSeconds * 1000);
    expect(await shop.until(actionKey, ended)).toMatchObject({
      state: "processing-completed",
      attemptCount: 1,
    });
    await gone(worker);
    expect(worker.process.exitCode).toBe(0);
  });

  it("J12 for ever is ended with its whole process, and a second attempt does the job", async () => {
    const actionKey = await shop.admit(long);
    const { env, block } = faults();
    const worker = await shop.launch({ ...env, STALL_SECONDS: String(stallSeconds) });
    await encoderOf(worker);
    block("main");
    await gone(worker);
    expect(worker.process.signalCode).toBe("SIGKILL");
    if (testTools.cage.endsWithParent) await vi.waitFor(() => expect(shop.runningInScratch()).toBe(false));
    await shop.recover();
    const second = await shop.launch();
    await shop.until(actionKey, claimed);
    await encoderOf(second);
    const attempts = await listAttempts(shop.context.db, actionKey);
    expect(attempts.map(({ state }) => state)).toEqual(["running", "lease-expired"]);
  });
});

describe("a lease thread that blocks", () => {
  it("J3 for ever lets main stop, and end FFmpeg, before the lease has run out", async () => {
    const actionKey = await shop.admit(long);
    const { env, block } = faults();
    const worker = await shop.launch({ ...env, LEASE_SECONDS: "12" });
    await encoderOf(worker);
    block("thread");
    await gone(worker);
    expect(outcomeOf(worker)).toBe("lease-lost");
    const { time } = JSON.parse(worker.output.split("\n").find((line) => line.includes("attempt ended"))!);
    const { state, leaseExpiryTime } = (await findJob(shop.context.db, actionKey))!;
    expect(state).toBe("job-received");
    expect(time).toBeLessThan(leaseExpiryTime!.getTime());
    expect(shop.runningInScratch()).toBe(false);
  });
});

describe("work that stands still", () => {
  async function expectStalled(actionKey: string, worker: TestWorker, stage: string): Promise<void> {
    expect(await shop.until(actionKey, waitingAgain)).toMatchObject({
      attemptCount: 1,
      errorCode: "stalled",
    });
    expect(await listAttempts(shop.context.db, actionKey)).toMatchObject([
      { state: "failed", errorCode: "stalled", stage },
    ]);
    await gone(worker);
    expect(outcomeOf(worker)).toBe("retry-later");
    expect(shop.runningInScratch()).toBe(false);
  }

  it("J12 because FFmpeg hangs ends the attempt as stalled, and FFmpeg", async () => {
    const actionKey = await shop.admit(long);
    const worker = await shop.launch({ STALL_SECONDS: String(stallSeconds) });
    process.kill(await encoderOf(worker), "SIGSTOP");
    await expectStalled(actionKey, worker, "encode");
  });

  it("J12 because storage sends nothing ends the attempt as stalled", async () => {
    const actionKey = await shop.admit(short);
    const proxy = await startTcpProxy(shop.storage.endpoint);
    onTestFinished(proxy.close);
    proxy.swallow();
    const worker = await shop.launch({ STALL_SECONDS: String(stallSeconds), S3_ENDPOINT: proxy.url });
    await expectStalled(actionKey, worker, "download");
  });
});

describe.skipIf(!testTools.cage.isOffline)("a worker that meets an error which nobody catches", () => {
  it.each(["throwUncaught", "rejectUnhandled"] as const)(
    "J4 records it, ends FFmpeg, its machine and itself (%s)",
    async (fault) => {
      const actionKey = await shop.admit(long);
      const { env, ...make } = faults();
      const { endedInstances, env: machineEnv } = await startEc2();
      const worker = await shop.launch({ ...env, ...machineEnv });
      await encoderOf(worker);
      make[fault]();
      expect(await shop.until(actionKey, waitingAgain)).toMatchObject({ errorCode: "worker-failed" });
      await gone(worker);
      expect(worker.process.exitCode).toBe(1);
      expect(endedInstances).toEqual(own);
      expect(shop.runningInScratch()).toBe(false);
    },
  );
});

describe.skipIf(!testTools.cage.isOffline)("a worker on a machine of its own", () => {
  it("J4 ends it after the job, and says on which the attempt ran", async () => {
    const { endedInstances, env } = await startEc2();
    const actionKey = await shop.admit(short);
    const worker = await shop.launch(env);
    expect(await shop.until(actionKey, ended)).toMatchObject({ state: "processing-completed" });
    await gone(worker);
    expect(endedInstances).toEqual(own);
    expect(worker.process.exitCode).toBe(0);
    expect(await listAttempts(shop.context.db, actionKey)).toMatchObject([{ machineId: own[0] }]);
  });

  it("J4 ends it also where there is no work for it", async () => {
    const { endedInstances, env } = await startEc2();
    await shop.admit(short);
    const worker = await shop.launch({ ...env, ACTION_KEY: randomUUID() });
    await gone(worker);
    expect(outcomeOf(worker)).toBe("missing");
    expect(endedInstances).toEqual(own);
  });

  it("J4 ends it also where its environment is incomplete", async () => {
    const { endedInstances, env } = await startEc2();
    await shop.admit(short);
    const worker = await shop.launch({ ...env, DATABASE_URL: "" });
    await gone(worker);
    expect(worker.process.exitCode).toBe(1);
    expect(endedInstances).toEqual(own);
  });

  it("M1 J4 touches no job where FFmpeg can't be kept from the network, says so, and ends it", async () => {
    const { endedInstances, env } = await startEc2();
    const actionKey = await shop.admit(short);
    const worker = await shop.launch({ ...env, PATH: pathWithoutCage() });
    await gone(worker);
    expect(worker.output).toContain("FFmpeg can't be kept from the network");
    expect(worker.process.exitCode).toBe(1);
    expect(endedInstances).toEqual(own);
    expect(await listAttempts(shop.context.db, actionKey)).toEqual([]);
  });

  it("J4 tells a machine that can't be ended, which changes nothing of the outcome", async () => {
    const { env } = await startEc2(403);
    const actionKey = await shop.admit(short);
    const worker = await shop.launch(env);
    expect(await shop.until(actionKey, ended)).toMatchObject({ state: "processing-completed" });
    await gone(worker);
    expect(worker.output).toContain("the machine couldn't be ended");
    expect(outcomeOf(worker)).toBe("published");
    expect(worker.process.exitCode).toBe(0);
  });
});
