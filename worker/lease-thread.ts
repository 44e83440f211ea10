/**
 * The heartbeat, on a thread and a database connection of its own: a busy main thread or an exhausted pool can't
 * cost the lease. It renews at the policy's rhythm, or soon after there is progress to tell.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "@reelkeep/db/client";
import { heartbeat } from "@reelkeep/services/heartbeat";
import type { FromLeaseThread, LeaseThreadData, ToLeaseThread } from "./lease-protocol.ts";

const port = parentPort!;
const { databaseUrl, actionKey, attemptId, policy, ...start } = workerData as LeaseThreadData;
/** Progress is told no more often than this. */
const progressMs = 1500;
/** The worker stops this long before its lease ends, which is what it needs to end FFmpeg. */
const marginMs = Math.min(15_000, (policy.leaseSeconds * 1000) / 4);

let progress = start.progress;
let told = progress;
let stopped = false;
let wake = new AbortController();

port.on("message", (message: ToLeaseThread) => {
  if (message === "stop") stopped = true;
  else progress = message.progress;
  wake.abort();
});

const say = (message: FromLeaseThread) => port.postMessage(message);

/** Renews until it is told to stop or has to tell. The lease counts from before the question, never from the answer. */
async function keepLease(): Promise<FromLeaseThread | undefined> {
  const database = openDatabase(databaseUrl, {
    connectionsMax: 1,
    applicationName: `reelkeep-lease ${attemptId}`,
  });
  let renewedAt = performance.now();
  try {
    for (let failures = 0; !stopped; ) {
      await pause(failures > 0 ? 500 : policy.heartbeatSeconds * 1000, failures === 0);
      if (stopped) return undefined;
      const askedAt = performance.now();
      const carried = progress;
      try {
        const beat = heartbeat(
          { db: database.db, jobPolicy: policy },
          { actionKey, attemptId, progress: carried },
        );
        const answer = await within(beat, renewedAt + policy.leaseSeconds * 1000 - marginMs - askedAt);
        if (answer !== "continue") return stopped ? undefined : answer;
        renewedAt = askedAt;
        told = carried;
        failures = 0;
      } catch {
        failures++;
      }
      if (performance.now() >= renewedAt + policy.leaseSeconds * 1000 - marginMs) return "out-of-time";
    }
    return undefined;
  } finally {
    await database.close().catch(() => {});
  }
}

/** Waits `ms`, or less: until there is progress that wasn't told (not sooner than its rhythm), or a stop. */
async function pause(ms: number, endsWithProgress: boolean): Promise<void> {
  const endsAt = performance.now() + ms;
  const earliest = performance.now() + progressMs;
  while (!stopped) {
    const now = performance.now();
    const until = endsWithProgress && progress !== told ? Math.min(earliest, endsAt) : endsAt;
    if (now >= until) return;
    wake = new AbortController();
    await sleep(until - now, undefined, { signal: wake.signal }).catch(() => {});
  }
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const timer = new AbortController();
  const late = sleep(Math.max(0, ms), undefined, { signal: timer.signal }).then(() => {
    throw new Error("no answer in time");
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

const last = await keepLease();
if (last) say(last);
port.close();
