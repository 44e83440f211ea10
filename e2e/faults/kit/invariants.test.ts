import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Database } from "@reelkeep/db/client";
import type { MediaVersion } from "@reelkeep/db/media-versions";
import { listVersionsOfJob } from "@reelkeep/db/testing/evidence";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectSettled, findProblems } from "./invariants.ts";
import { startFaultStackForFile } from "./stack.ts";
import { bringVideo } from "./uploads.ts";

const stack = startFaultStackForFile();
const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-invariants-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let actionKey: string;
let version: MediaVersion;
beforeAll(async () => {
  ({ actionKey } = await bringVideo(stack()));
  await expectSettled(stack(), actionKey, { state: "processing-completed", attempts: 1 });
  version = (await listVersionsOfJob(stack().db, actionKey))[0]!;
});

it.each([
  { damage: "update job_attempts set attempt_number = 2", found: "they are numbered 2" },
  { damage: "update jobs set attempt_count = 2", found: "counts 2 attempts" },
  { damage: "update job_attempts set state = 'running'", found: "and running are" },
  { damage: "update job_attempts set state = 'failed'", found: "0 attempts succeeded" },
  {
    damage: `insert into job_attempts (id, action_key, attempt_number, generation, worker_id, state, output_prefix, started_at, last_heartbeat_at, ended_at)
      select gen_random_uuid(), action_key, 2, 1, worker_id, 'failed', 'x', started_at, started_at, ended_at from job_attempts`,
    found: "attempt 2 began at",
  },
  { damage: "update jobs set state = 'failed'", found: "is failed and has 1 versions" },
  {
    damage: "update media_versions set attempt_id = null, inventory = '[]'",
    found: "has 0 versions",
  },
  {
    damage: `insert into outbox_messages (kind, action_key, generation, available_at, created_at)
      select 'job-ended', action_key, generation, now(), now() from jobs`,
    found: "its end was told 2 times",
  },
  { damage: "update uploads set state = 'expired'", found: "nobody answers for uploads/" },
])("the check finds: $damage", async ({ damage, found }) => {
  const undone = new Error("undone");
  const tried = stack().db.transaction(async (tx) => {
    await tx.execute(sql.raw(damage));
    const problems = await findProblems({ ...stack(), db: tx as unknown as Database });
    expect(problems).toContainEqual(expect.stringContaining(found));
    throw undone;
  });
  await expect(tried).rejects.toBe(undone);
});

it("the check finds a published object that is missing, or another one", async () => {
  const { name, etag } = version.inventory.find((item) => item.name.endsWith(".ts"))!;
  const key = version.prefix + name;
  const kept = path.join(folder, "segment");
  await stack().store.download(key, kept, { etag });
  await stack().store.remove([key]);
  expect(await findProblems(stack())).toEqual([expect.stringContaining(`${name} is missing`)]);
  await stack().store.putText(key, "x", { contentType: "video/mp2t" });
  expect(await findProblems(stack())).toEqual([expect.stringContaining(`${name} isn't what was published`)]);
  await stack().store.putFile(key, kept, { contentType: "video/mp2t" });
  expect(await findProblems(stack())).toEqual([]);
});

it("the check finds an object and a multipart upload that nobody answers for, unless the ledger does", async () => {
  const stray = "processed/somebody/attempt-9/stray.ts";
  await stack().store.putText(stray, "x", { contentType: "video/mp2t" });
  expect(await findProblems(stack())).toEqual([expect.stringContaining(`nobody answers for ${stray}`)]);
  await stack().db.execute(
    sql`insert into deletion_ledger (kind, target, reason, due_at, created_at)
      values ('prefix', 'processed/somebody/attempt-9/', 'test', now() + interval '1 hour', now())`,
  );
  expect(await findProblems(stack())).toEqual([]);
  const uploadId = await stack().store.createMultipartUpload("uploads/left.mp4", {
    contentType: "video/mp4",
  });
  expect(await findProblems(stack())).toEqual([
    expect.stringContaining("nobody answers for uploads/left.mp4"),
  ]);
  await stack().store.abortMultipartUpload("uploads/left.mp4", uploadId);
  expect(await findProblems(stack())).toEqual([]);
});
