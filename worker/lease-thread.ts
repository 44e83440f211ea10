/**
 * The heartbeat, on a thread and a database connection of its own: a busy main thread or an exhausted pool can't
 * cost the lease. It renews at the policy's rhythm, or soon after there is progress to tell. It is also the watchdog
 * (J12): when nothing moves any more, or main may not go on, main is told, nothing is renewed any further, and a
 * main thread that doesn't leave by the lease's end is ended with the whole process.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "@reelkeep/db/client";
import { heartbeat } from "@reelkeep/services/heartbeat";
import {
  type FromLeaseThread,
  type LeaseThreadData,
  leaseBoard,
  leaseEndsAtMs,
  monotonicMs,
  stopsAtMs,
  type ToLeaseThread,
} from "./lease-protocol.ts";
import { watchForStall } from "./stall-watch.ts";

const port = parentPort!;
const { databaseUrl, actionKey, attemptId, policy, claimAskedAtMs, ...start } = workerData as LeaseThreadData;
const board = leaseBoard(start.board);
/** Progress is told no more often than this. */
const progressMs = 1500;
const retryMs = 500;
/** One silent connection costs half a beat, so there are three tries between a missed beat and the lease's end. */
const queryTimeoutMs = (policy.heartbeatSeconds * 1000) / 2;
/** What main gets to leave in any case: FFmpeg may take five seconds to end. */
const leaveMs = 6000;

let progress = start.progress;
let told = progress;
let renewedAt = claimAskedAtMs;
let isStalled = false;
let wake = new AbortController();

const tellMain = (message: FromLeaseThread) => port.postMessage(message);

port.on("message", (message: ToLeaseThread) => {
  progress = message;
  wake.abort();
});

watchForStall(board.moves, policy.stallSeconds, () => {
  isStalled = true;
  tellMain("stalled");
  wake.abort();
});

/**
 * Renews until main has to stop. The lease counts from before the question, never from the answer. A stall is
 * followed by one last renewal: a whole lease's time to record it.
 */
async function keepLease(): Promise<void> {
  const { db } = openDatabase(databaseUrl, {
    connectionsMax: 1,
    applicationName: `reelkeep-lease ${attemptId}`,
    queryTimeoutMs,
  });
  for (let failures = 0; ; ) {
    if (failures > 0) await sleep(retryMs);
    else await pause(renewedAt + policy.heartbeatSeconds * 1000);
    const askedAt = monotonicMs();
    const leftMs = board.stopsAtMs() - askedAt;
    if (leftMs <= 0) return;
    const isLast = isStalled;
    const carried = progress;
    try {
      const beat = heartbeat({ db, jobPolicy: policy }, { actionKey, attemptId, progress: carried });
      const answer = await within(beat, leftMs);
      if (answer !== "continue") return tellMain(answer);
      renewedAt = askedAt;
      board.allowUntil(stopsAtMs(askedAt, policy));
      if (isLast) return;
      told = carried;
      failures = 0;
    } catch {
      failures++;
    }
  }
}

/** Waits until `endsAt`, or less: until there is progress that wasn't told (not sooner than its rhythm), or a stall. */
async function pause(endsAt: number): Promise<void> {
  const earliest = monotonicMs() + progressMs;
  for (;;) {
    const now = monotonicMs();
    const until = progress === told ? endsAt : Math.min(earliest, endsAt);
    if (now >= until || isStalled) return;
    wake = new AbortController();
    await sleep(until - now, undefined, { signal: wake.signal }).catch(() => {});
  }
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error("no answer in time");
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

await keepLease();
// Main ends this thread when it leaves. One that is still there can't: the kernel, or the fleet, ends FFmpeg after it.
await sleep(Math.max(leaseEndsAtMs(renewedAt, policy) - monotonicMs(), leaveMs));
process.kill(process.pid, "SIGKILL");
