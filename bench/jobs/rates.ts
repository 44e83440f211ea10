import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Actor } from "@reelkeep/core/access/policy";
import type { UploadAnswer } from "@reelkeep/core/api/media";
import { seedJob } from "@reelkeep/db/testing/seed";
import { completeUpload } from "@reelkeep/services/admit-upload";
import { claimJob } from "@reelkeep/services/claim-job";
import { getMediaStatus } from "@reelkeep/services/get-media-status";
import { heartbeat } from "@reelkeep/services/heartbeat";
import {
  createActor,
  createTestContext,
  sendFile,
  type TestContext,
  tinyMp4,
  uploadRequest,
} from "@reelkeep/services/testing/context";
import { sql } from "drizzle-orm";
import { bundlePath } from "../../local/bundle.ts";
import { requireFreePort } from "../../local/ports.ts";
import { startStorageProcess } from "../../local/s3/testing/test-process.ts";
import { bucket, credentials, region } from "../../local/s3/testing/test-storage.ts";
import { median, type Report } from "../report.ts";
import { inParallel } from "./callers.ts";
import { startBenchServer } from "./server.ts";

const callers = 16;
const rounds = 5;
const jobs = 400;
/** Calls a round, of what can be repeated on the same rows. */
const repeated = 2000;
/** An admission of an MP4 starts a process. */
const probed = 20;
const unprobed = 100;

/** How many of each a second the database takes, beside the plainest write and read that it could be asked for. */
export async function benchRates(report: Report): Promise<void> {
  report.say(
    `RATES: services called directly by ${callers} callers at once, on a PostgreSQL with the local stack's settings
(each commit reaches the disk). Each figure is the median of ${rounds} rounds; every round measures the baselines too.
An AVI is admitted by its first bytes; an MP4 is looked into by a process of its own.`,
  );
  const server = await startBenchServer();
  const dataDir = mkdtempSync(path.join(tmpdir(), "reelkeep-bench-"));
  try {
    const port = await requireFreePort(0);
    const storage = await startStorageProcess(path.join(dataDir, "objects"), port);
    const config = { bucket, region, credentials, endpoint: storage.url };
    const context = {
      ...createTestContext(await server.database("rates"), config),
      probeScript: bundlePath("probe-process"),
    };
    try {
      await measure(report, context);
    } finally {
      await context.close();
      await storage.kill();
    }
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(report: Report, context: TestContext): Promise<void> {
  const { db } = context;
  const seeded = await Promise.all(Array.from({ length: jobs }, () => seedJob(db)));
  await db.execute(sql`create table bench_counters (id int primary key, n int not null)`);
  await db.execute(sql`insert into bench_counters select i, 0 from generate_series(0, ${callers - 1}) i`);
  const figures = new Map<string, number[]>();
  const measured = async (
    name: string,
    calls: number,
    call: (n: number, caller: number) => Promise<unknown>,
  ) => {
    const started = performance.now();
    await inParallel(callers, calls, call);
    const perSecond = calls / ((performance.now() - started) / 1000);
    figures.set(name, [...(figures.get(name) ?? []), perSecond]);
  };

  for (let round = 0; round < rounds; round++) {
    await measured("UPDATE … RETURNING", repeated, (_, caller) =>
      db.execute(sql`update bench_counters set n = n + 1 where id = ${caller} returning n`),
    );
    await measured("SELECT 1", repeated, () => db.execute(sql`select 1`));
    const attempts = seeded.map(() => randomUUID());
    await measured("claims", jobs, async (n) => {
      const { actionKey, generation } = seeded[n]!.job;
      const ids = { attemptId: attempts[n]!, workerId: randomUUID(), machineId: null };
      const { outcome } = await claimJob(context, { actionKey, generation, ...ids });
      if (outcome !== "claimed") throw new Error(`a claim was ${outcome}`);
    });
    await measured("heartbeats", repeated, async (n) => {
      const { actionKey } = seeded[n % jobs]!.job;
      const progress = {
        stage: "encode" as const,
        fraction: n / repeated,
        renditions: [],
        processByResolution: {},
      };
      const beat = { actionKey, attemptId: attempts[n % jobs]!, progress };
      if ((await heartbeat(context, beat)) !== "continue") throw new Error("a lease was lost");
    });
    await measured("status polls", repeated, (n) => {
      const { userId, job } = seeded[n % jobs]!;
      return getMediaStatus(context, { userId, role: "creator" }, job.actionKey);
    });
    for (const { name, files } of [
      {
        name: "admissions, AVI",
        files: await sendFiles(context, unprobed, avi, "film.avi", "video/x-msvideo"),
      },
      { name: "admissions, MP4", files: await sendFiles(context, probed, () => tinyMp4(round)) },
    ])
      await measured(name, files.length, async (n) => {
        const { actor, upload } = files[n]!;
        const { status } = await completeUpload(context, actor, upload.actionKey);
        if (status !== "file-processing-ready") throw new Error(`an admission ended as ${status}`);
      });
    await makeWaitAgain(context);
  }

  const rate = (name: string) => median(figures.get(name)!);
  report.table(
    ["", "a second", "of UPDATE … RETURNING", "of SELECT 1"],
    [...figures.keys()].map((name) => [
      name,
      rate(name).toFixed(0),
      (rate(name) / rate("UPDATE … RETURNING")).toFixed(2),
      (rate(name) / rate("SELECT 1")).toFixed(2),
    ]),
  );
}

/** Undoes the round's claims. */
async function makeWaitAgain({ db }: TestContext): Promise<void> {
  await db.execute(sql`
    update jobs set state = 'file-processing-ready', waiting_reason = 'queued', being_processed_by = null,
      lease_expiry_time = null, attempt_count = 0 where state = 'job-received'`);
  await db.execute(sql`delete from job_attempts`);
}

/** The smallest file whose signature is an AVI's. */
function avi(): Uint8Array {
  const file = randomBytes(2048);
  file.write("RIFF", 0);
  file.write("AVI LIST", 8);
  return file;
}

interface SentFile {
  readonly actor: Actor;
  readonly upload: UploadAnswer;
}

/** Files that lie in storage and wait for their admission, each of another creator. */
async function sendFiles(
  context: TestContext,
  count: number,
  make: () => Uint8Array,
  ...named: [filename?: string, contentType?: string]
): Promise<SentFile[]> {
  const files: SentFile[] = [];
  await inParallel(4, count, async () => {
    const actor = await createActor(context);
    const body = make();
    files.push({ actor, upload: await sendFile(context, actor, body, uploadRequest(body, ...named)) });
  });
  return files;
}
