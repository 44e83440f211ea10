/**
 * The heartbeat, on a thread and a database connection of its own: a busy main thread or an exhausted pool can't
 * cost the lease. It renews at the policy's rhythm, or soon after there is progress to tell.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "@reelkeep/db/client";
import { heartbeat } from "@reelkeep/services/heartbeat";
import {
  type FromLeaseThread,
  type LeaseThreadData,
  monotonicMs,
  type ToLeaseThread,
} from "./lease-protocol.ts";

const port = parentPort!;
const { databaseUrl, actionKey, attemptId, policy, claimAskedAtMs, ...start } = workerData as LeaseThreadData;
/** Progress is told no more often than this. */
const progressMs = 1500;
const retryMs = 500;
/** One silent connection costs half a beat, so there are three tries between a missed beat and the lease's end. */
const queryTimeoutMs = (policy.heartbeatSeconds * 1000) / 2;
/** The worker stops this long before its lease ends, which is what it needs to end FFmpeg. */
const marginMs = Math.min(15_000, (policy.leaseSeconds * 1000) / 4);

let progress = start.progress;
let told = progress;
let wake = new AbortController();

port.on("message", (message: ToLeaseThread) => {
  progress = message;
  wake.abort();
});

/** Renews until it has to tell. The lease counts from before the question, never from the answer. */
async function keepLease(): Promise<FromLeaseThread> {
  const { db } = openDatabase(databaseUrl, {
    connectionsMax: 1,
    applicationName: `reelkeep-lease ${attemptId}`,
    queryTimeoutMs,
  });
  let renewedAt = claimAskedAtMs;
  const stopsAt = () => renewedAt + policy.leaseSeconds * 1000 - marginMs;
  for (let failures = 0; ; ) {
    if (failures > 0) await sleep(retryMs);
    else await pause(renewedAt + policy.heartbeatSeconds * 1000);
    const askedAt = monotonicMs();
    const carried = progress;
    try {
      const beat = heartbeat({ db, jobPolicy: policy }, { actionKey, attemptId, progress: carried });
      const answer = await within(beat, stopsAt() - askedAt);
      if (answer !== "continue") return answer;
      renewedAt = askedAt;
      told = carried;
      failures = 0;
    } catch {
      failures++;
    }
    if (monotonicMs() >= stopsAt()) return "out-of-time";
  }
}

/** Waits until `endsAt`, or less: until there is progress that wasn't told (not sooner than its rhythm). */
async function pause(endsAt: number): Promise<void> {
  const earliest = monotonicMs() + progressMs;
  for (;;) {
    const now = monotonicMs();
    const until = progress === told ? endsAt : Math.min(earliest, endsAt);
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

port.postMessage((await keepLease()) satisfies FromLeaseThread);
// Ends this thread alone, with its connection, whose other end may be silent.
process.exit();
