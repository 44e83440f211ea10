/** All rows that jobs stand on and leave, in one look, for tests that compare every one of them. */
import { sql } from "drizzle-orm";
import type { Executor } from "../client.ts";
import type { assets } from "../schema/assets.ts";
import type { jobAttempts } from "../schema/job-attempts.ts";
import type { jobs } from "../schema/jobs.ts";
import type { uploads } from "../schema/uploads.ts";

type AssetState = (typeof assets.$inferSelect)["state"];
type AttemptState = (typeof jobAttempts.$inferSelect)["state"];
type JobState = (typeof jobs.$inferSelect)["state"];
type UploadState = (typeof uploads.$inferSelect)["state"];
type WaitingReason = NonNullable<(typeof jobs.$inferSelect)["waitingReason"]>;
type Id = string;
type Instant = number;

/** Instants are in milliseconds since 1970. */
export interface JobRows {
  readonly assets: readonly {
    id: Id;
    state: AssetState;
    sourceRevision: number;
    active: Id | null;
  }[];
  readonly uploads: readonly { id: Id; asset: Id; state: UploadState; key: string }[];
  readonly jobs: readonly {
    id: Id;
    asset: Id;
    revision: number;
    admittedAt: Instant;
    state: JobState;
    generation: number;
    attemptCount: number;
    attemptLimit: number;
    holder: Id | null;
    leaseUntil: Instant | null;
    cancelRequested: boolean;
    cancelledBy: string | null;
    waitingReason: WaitingReason | null;
    retryAt: Instant | null;
    launch: Id | null;
    machine: string | null;
    launchedAt: Instant | null;
    launchCount: number;
    errorCode: string | null;
    endedAt: Instant | null;
  }[];
  readonly attempts: readonly {
    id: Id;
    job: Id;
    number: number;
    generation: number;
    machine: string | null;
    state: AttemptState;
    startedAt: Instant;
    endedAt: Instant | null;
    errorCode: string | null;
    prefix: string;
  }[];
  /** In the order of their numbers. */
  readonly versions: readonly { asset: Id; attempt: Id; versionId: Id }[];
  readonly launches: readonly {
    id: Id;
    job: Id;
    generation: number;
    machine: string | null;
    beganAt: Instant;
    unwantedSince: Instant | null;
    goneAt: Instant | null;
    refused: boolean;
  }[];
  /** Launch intents that are pending. */
  readonly messages: readonly {
    job: Id;
    generation: number;
    availableAt: Instant;
    lockedUntil: Instant | null;
    tries: number;
  }[];
  readonly events: readonly { job: Id; generation: number; state: JobState; code: string | null }[];
  readonly deletions: readonly {
    target: string;
    dueAt: Instant;
    deletedAt: Instant | null;
    confirmedAt: Instant | null;
    kept: boolean;
  }[];
}

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
const rowsOf = (name: string, columns: Record<string, string>, from: string) =>
  `'${name}', (select coalesce(json_agg(json_build_object(${Object.entries(columns)
    .map(([key, value]) => `'${key}', ${value}`)
    .join(", ")})), '[]') from ${from})`;

const query = `select json_build_object(${[
  rowsOf(
    "assets",
    { id: "id", state: "state", sourceRevision: "source_revision", active: "active_version_id" },
    "assets",
  ),
  rowsOf("uploads", { id: "action_key", asset: "asset_id", state: "state", key: "key" }, "uploads"),
  rowsOf(
    "jobs",
    {
      id: "action_key",
      asset: "asset_id",
      revision: "source_revision",
      admittedAt: ms("admitted_at"),
      state: "state",
      generation: "generation",
      attemptCount: "attempt_count",
      attemptLimit: "attempt_limit",
      holder: "being_processed_by",
      leaseUntil: ms("lease_expiry_time"),
      cancelRequested: "cancel_requested_at is not null",
      cancelledBy: "cancelled_by",
      waitingReason: "waiting_reason",
      retryAt: ms("retry_at"),
      launch: "provisioning_token",
      machine: "machine_id",
      launchedAt: ms("launched_at"),
      launchCount: "launch_count",
      errorCode: "error_code",
      endedAt: ms("ended_at"),
    },
    "jobs",
  ),
  rowsOf(
    "attempts",
    {
      id: "id",
      job: "action_key",
      number: "attempt_number",
      generation: "generation",
      machine: "machine_id",
      state: "state",
      startedAt: ms("started_at"),
      endedAt: ms("ended_at"),
      errorCode: "error_code",
      prefix: "output_prefix",
    },
    "job_attempts",
  ),
  rowsOf(
    "versions",
    { asset: "asset_id", attempt: "attempt_id", versionId: "id" },
    "(select * from media_versions order by version_number) v",
  ),
  rowsOf(
    "launches",
    {
      id: "provisioning_token",
      job: "action_key",
      generation: "generation",
      machine: "machine_id",
      beganAt: ms("began_at"),
      unwantedSince: ms("unwanted_since"),
      goneAt: ms("gone_at"),
      refused: "refusal is not null",
    },
    "worker_launches",
  ),
  rowsOf(
    "messages",
    {
      job: "action_key",
      generation: "generation",
      availableAt: ms("available_at"),
      lockedUntil: ms("locked_until"),
      tries: "attempt_count",
    },
    "outbox_messages where kind = 'launch-worker' and state = 'pending'",
  ),
  rowsOf(
    "events",
    {
      job: "action_key",
      generation: "generation",
      state: "payload ->> 'state'",
      code: "payload ->> 'code'",
    },
    "outbox_messages where kind = 'job-ended'",
  ),
  rowsOf(
    "deletions",
    {
      target: "target",
      dueAt: ms("due_at"),
      deletedAt: ms("deleted_at"),
      confirmedAt: ms("confirmed_at"),
      kept: "coalesce(last_error like 'kept:%', false)",
    },
    "deletion_ledger",
  ),
].join(", ")}) as rows`;

export async function readJobRows(db: Executor): Promise<JobRows> {
  const { rows } = await db.execute<{ rows: JobRows }>(sql.raw(query));
  return rows[0]!.rows;
}

/** Removes every video and all that belongs to it; people stay. */
export async function removeVideos(db: Executor): Promise<void> {
  await db.execute("truncate assets, deletion_ledger cascade");
}
