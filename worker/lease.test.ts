import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { AppError } from "@reelkeep/core/errors";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { type OpenDatabase, openDatabase } from "@reelkeep/db/client";
import { findJob } from "@reelkeep/db/jobs";
import { seedJob } from "@reelkeep/db/testing/seed";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { claimJob } from "@reelkeep/services/claim-job";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { askAgain } from "./ask-again.ts";
import { keepLease, type Lease } from "./lease.ts";
import { monotonicMs } from "./lease-protocol.ts";
import { startTcpProxy, type TcpProxy } from "./testing/tcp-proxy.ts";

const short = { ...defaultJobPolicy, leaseSeconds: 4, heartbeatSeconds: 1 };
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

async function startProxy(): Promise<TcpProxy> {
  const proxy = await startTcpProxy(database.url);
  onTestFinished(proxy.close);
  return proxy;
}

/** A claimed job whose lease is kept by way of the proxy; `heldSince` is when its claim was asked. */
async function hold(
  proxy: Pick<TcpProxy, "url">,
  { policy = short, heldSince = monotonicMs() } = {},
): Promise<{ lease: Lease; actionKey: string }> {
  const { actionKey } = (await seedJob(open.db)).job;
  const attemptId = randomUUID();
  const claim = { actionKey, generation: 1, attemptId, workerId: randomUUID(), machineId: null };
  expect((await claimJob({ db: open.db, jobPolicy: policy }, claim)).outcome).toBe("claimed");
  const progress = { stage: "claim" as const, fraction: 0, renditions: [], processByResolution: {} };
  const lease = keepLease({
    databaseUrl: proxy.url,
    actionKey,
    attemptId,
    policy,
    claimAskedAtMs: heldSince,
    progress,
  });
  onTestFinished(() => lease.stop());
  return { lease, actionKey };
}

const holdUntil = async (actionKey: string): Promise<number> =>
  (await findJob(open.db, actionKey))!.leaseExpiryTime!.getTime();

it("J3 a lease whose database falls silent is told to be lost before it has ended, and stopping it returns", async () => {
  const proxy = await startProxy();
  const { lease, actionKey } = await hold(proxy);
  const first = await holdUntil(actionKey);
  await vi.waitFor(async () => expect(await holdUntil(actionKey)).toBeGreaterThan(first), 5000);
  proxy.swallow();
  if (!lease.signal.aborted) await once(lease.signal, "abort");
  expect(lease.signal.reason).toMatchObject({ code: "lease-lost" });
  const { rows } = await open.db.execute(
    `SELECT 1 FROM jobs WHERE action_key = '${actionKey}' AND lease_expiry_time > now()`,
  );
  expect(rows).toHaveLength(1);
  await lease.stop();
});

it("J3 one silent connection doesn't cost the lease: the next beat takes a new one", async () => {
  const proxy = await startProxy();
  const { lease, actionKey } = await hold(proxy, {
    policy: { ...defaultJobPolicy, leaseSeconds: 20, heartbeatSeconds: 2 },
  });
  await vi.waitFor(() => expect(proxy.connectionCount()).toBe(1), 10_000);
  proxy.swallow();
  await vi.waitFor(() => expect(proxy.connectionCount()).toBe(2), 10_000);
  const heldUntil = await holdUntil(actionKey);
  proxy.restore();
  await vi.waitFor(async () => expect(await holdUntil(actionKey)).toBeGreaterThan(heldUntil), 10_000);
  expect(lease.signal.aborted).toBe(false);
});

it("J3 a main thread that is blocked for longer than the lease doesn't cost it", async () => {
  const { lease, actionKey } = await hold(database);
  const first = await holdUntil(actionKey);
  await vi.waitFor(async () => expect(await holdUntil(actionKey)).toBeGreaterThan(first), 5000);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.5 * short.leaseSeconds * 1000);
  const { rows } = await open.db.execute(
    `SELECT 1 FROM jobs WHERE action_key = '${actionKey}' AND lease_expiry_time > now()`,
  );
  expect(rows).toHaveLength(1);
  expect(lease.signal.aborted).toBe(false);
});

it("J2 the first lease counts from the claim's question, not from the thread's start", async () => {
  const proxy = await startProxy();
  proxy.swallow();
  const { lease } = await hold(proxy, { heldSince: monotonicMs() - short.leaseSeconds * 1000 });
  const startedAt = monotonicMs();
  if (!lease.signal.aborted) await once(lease.signal, "abort");
  // Counted from the thread's start, it would be three seconds later still.
  expect(monotonicMs() - startedAt).toBeLessThan(2500);
});

it("J3 a question to a silent database ends, and is asked again on a new connection", async () => {
  const proxy = await startProxy();
  const { db, close } = openDatabase(proxy.url, { queryTimeoutMs: 500, connectionsMax: 1 });
  await db.execute("SELECT 1");
  proxy.swallow();
  let tries = 0;
  const answer = askAgain(() => {
    if (++tries === 3) proxy.restore();
    return db.transaction((tx) => tx.execute("SELECT 1 AS one"));
  });
  expect((await answer).rows).toEqual([{ one: 1 }]);
  proxy.swallow();
  await close();
});

it("J3 who has lost the lease asks no further", async () => {
  const lost = AbortSignal.abort(new AppError("lease-lost"));
  const ask = vi.fn(async () => {
    throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  });
  await expect(askAgain(ask, lost)).rejects.toMatchObject({ code: "lease-lost" });
  expect(ask).toHaveBeenCalledOnce();
});
