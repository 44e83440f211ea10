import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { setInterval as every } from "node:timers/promises";
import type { Database } from "@reelkeep/db/client";
import { jobs } from "@reelkeep/db/schema/jobs";
import { workerLaunches } from "@reelkeep/db/schema/worker-launches";
import { createActor, createTestContext, sendFile, uploadRequest } from "@reelkeep/services/testing/context";
import { asc, count, eq, isNotNull } from "drizzle-orm";
import { bundlePath } from "../../local/bundle.ts";
import type { LocalFleet } from "../../local/fleet.ts";
import type { Report } from "../report.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { inParallel } from "./callers.ts";

const uploads = Number(process.env.BENCH_BURST_UPLOADS ?? 500);
const ceiling = 4;
const senders = 16;
const sampleMs = 250;
/** Without any job ending for so long, the burst is stuck. */
const stuckSeconds = 300;

/** All that arrive at once are worked on in order of admission, and never by more workers than the ceiling allows. */
export async function benchBurst(report: Report): Promise<void> {
  report.say(
    `BURST: ${uploads} uploads of a clip of half a second, 64×64, with a ceiling of ${ceiling}: the local stack's
own database, storage, control plane and worker processes. They are sent by ${senders} at once and admitted by
storage's events; launches begin when the last one is admitted. Workers alive are counted every ${sampleMs} ms, by the
fleet and in the table of processes, and from the launches that the database tells of.`,
  );
  const stack = await startBenchStack({ WORKERS_MAX: String(ceiling) });
  try {
    await run(report, stack);
  } finally {
    await stack.stop();
  }
}

async function run(report: Report, stack: BenchStack): Promise<void> {
  const { db, fleet, failed } = stack;
  const sendSeconds = await secondsOf(() => Promise.race([admitAll(stack, makeClip(stack.dataDir)), failed]));
  const watch = watchWorkers(fleet);
  const workSeconds = await secondsOf(async () => {
    stack.begin();
    await Promise.race([untilAll(() => countEnded(db)), failed]);
  });
  const alive = await watch.stop();
  const states = await db.select({ state: jobs.state, count: count() }).from(jobs).groupBy(jobs.state);
  const told = await readLaunches(db);

  const completed = states.find(({ state }) => state === "processing-completed")?.count ?? 0;
  report.bound(completed === uploads, `only ${completed} of ${uploads} jobs of the burst are completed`);
  for (const [how, most] of Object.entries({ ...alive, launches: told.aliveMax }))
    report.bound(most <= ceiling, `${most} workers were alive at once, counted by ${how}`);
  report.bound(told.inOrder, "a job was launched before one that was admitted earlier");
  report.table(
    ["", "figure"],
    [
      ["uploads sent and admitted", `${uploads} in ${sendSeconds.toFixed(0)} s`],
      ["their work, from the first launch to the last end", `${workSeconds.toFixed(0)} s`],
      ["jobs a minute", ((uploads / workSeconds) * 60).toFixed(1)],
      ["launches", String(told.launches)],
      ["most workers alive: fleet", String(alive.fleet)],
      ["most workers alive: table of processes", String(alive.processes)],
      ["most workers alive: launches in the database", String(told.aliveMax)],
      ["ended as", states.map(({ state, count: n }) => `${state} ${n}`).join(", ")],
    ],
  );
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** A clip with sound, as small as a real one can be. */
function makeClip(folder: string): Uint8Array {
  const file = path.join(folder, "clip.mp4");
  const sources = ["testsrc2=s=64x64:r=10:d=0.5", "sine=d=0.5"].flatMap((source) => [
    "-f",
    "lavfi",
    "-i",
    source,
  ]);
  const codecs = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac"];
  execFileSync(process.env.FFMPEG_PATH || "ffmpeg", ["-v", "error", "-y", ...sources, ...codecs, file]);
  return readFileSync(file);
}

/** Sends all files as browsers do, and waits until storage's events have admitted each. */
async function admitAll({ stores, db }: BenchStack, clip: Uint8Array): Promise<void> {
  const site = {
    ...createTestContext(stores.databaseUrl, stores.environment.storage),
    probeScript: bundlePath("probe-process"),
  };
  try {
    const creator = await createActor(site);
    await inParallel(senders, uploads, () => sendFile(site, creator, clip, uploadRequest(clip)));
  } finally {
    await site.close();
  }
  await untilAll(() => countJobs(db));
}

const countJobs = (db: Database): Promise<number> => db.$count(jobs);
const countEnded = (db: Database): Promise<number> => db.$count(jobs, isNotNull(jobs.endedAt));

/** Waits until `reached` answers the number of uploads. @throws Error once it stands still. */
async function untilAll(reached: () => Promise<number>): Promise<void> {
  let seen = -1;
  let movedAt = performance.now();
  for await (const _ of every(500)) {
    const now = await reached();
    if (now === uploads) return;
    if (now !== seen) [seen, movedAt] = [now, performance.now()];
    if (performance.now() - movedAt > stuckSeconds * 1000)
      throw new Error(`The burst stands still at ${now} of ${uploads}.`);
  }
}

/** Counts workers until it is stopped; answers the most that were alive at once. */
function watchWorkers(fleet: LocalFleet) {
  const most = { fleet: 0, processes: 0 };
  const end = new AbortController();
  const watching = (async () => {
    for await (const _ of every(sampleMs, undefined, { signal: end.signal })) {
      most.fleet = Math.max(most.fleet, (await fleet.alive()).length);
      most.processes = Math.max(most.processes, countWorkerProcesses());
    }
  })().catch((error: Error) => {
    if (error.name !== "AbortError") throw error;
  });
  return {
    async stop() {
      end.abort();
      await watching;
      return most;
    },
  };
}

/** Workers are children of this process, as they are of the local stack's supervisor. */
function countWorkerProcesses(): number {
  const table = execFileSync("ps", ["-A", "-o", "ppid=,args="], { encoding: "utf8" });
  const isWorker = (line: string) =>
    line.trim().startsWith(`${process.pid} `) && line.includes(bundlePath("worker"));
  return table.split("\n").filter(isWorker).length;
}

/** What the log of launches tells: how many overlapped, and whether each job had its turn. */
async function readLaunches(db: Database) {
  const launches = await db
    .select({
      actionKey: workerLaunches.actionKey,
      beganAt: workerLaunches.beganAt,
      goneAt: workerLaunches.goneAt,
    })
    .from(workerLaunches)
    .innerJoin(jobs, eq(jobs.actionKey, workerLaunches.actionKey))
    .orderBy(asc(workerLaunches.beganAt));
  const admitted = await db
    .select({ actionKey: jobs.actionKey })
    .from(jobs)
    .orderBy(asc(jobs.admittedAt), asc(jobs.actionKey));
  // A job that was launched again had its turn before.
  const turns = [...new Set(launches.map(({ actionKey }) => actionKey))];
  const aliveAt = (time: Date) =>
    launches.filter(({ beganAt, goneAt }) => beganAt <= time && (goneAt === null || goneAt > time)).length;
  return {
    launches: launches.length,
    aliveMax: Math.max(0, ...launches.map(({ beganAt }) => aliveAt(beganAt))),
    inOrder: turns.every((actionKey, turn) => actionKey === admitted[turn]?.actionKey),
  };
}
