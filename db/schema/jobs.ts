import type { RenditionProgress } from "@reelkeep/core/api/media";
import { sql } from "drizzle-orm";
import {
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  real,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { assets } from "./assets.ts";
import { byteCount, instant } from "./columns.ts";
import { jobState, stage, waitingReason } from "./enums.ts";
import { uploads } from "./uploads.ts";

/**
 * The work for one source revision with one profile.
 *
 * Who is on call should know: a row in `job-received` has exactly one live or expired lease (the CHECK says so);
 * nothing leaves it but a move of core/job/machine, each a single UPDATE guarded by state and lease. Workers that
 * lost the lease can't write here: every one of their writes names their attempt's id.
 */
export const jobs = pgTable(
  "jobs",
  {
    actionKey: uuid("action_key")
      .primaryKey()
      .references(() => uploads.actionKey),
    assetId: uuid("asset_id")
      .notNull()
      .references(() => assets.id),
    sourceRevision: integer("source_revision").notNull(),
    profile: text("profile").notNull(),
    state: jobState("state").notNull().default("file-processing-ready"),

    /** Raised by an admin's retry; older messages and workers are ignored. */
    generation: integer("generation").notNull().default(1),
    /** Claims ever made, over all generations; never reset, so that `attempt-{n}/` is unique for ever. */
    attemptCount: integer("attempt_count").notNull().default(0),
    /** attemptCount may not rise above it. A retry adds three; an attempt handed back adds one. */
    attemptLimit: integer("attempt_limit").notNull().default(3),

    /** The live attempt's id: it is the lease token. A foreign key of `clock-and-pointers` ties it to this job. */
    beingProcessedBy: uuid("being_processed_by"),
    leaseExpiryTime: instant("lease_expiry_time"),
    lastHeartbeatAt: instant("last_heartbeat_at"),
    /** When the present (or last) attempt began. */
    processingStartedAt: instant("processing_started_at"),
    cancelRequestedAt: instant("cancel_requested_at"),
    /** A person's id; `superseded`, `asset-blocked` or `asset-deleted` where it had to make way. */
    cancelledBy: text("cancelled_by"),

    /** Why it waits; set in `file-processing-ready` alone. */
    waitingReason: waitingReason("waiting_reason").default("queued"),
    /** Not to be launched before this time. */
    retryAt: instant("retry_at"),
    /** The launch under way: set by one conditional update, so that two dispatchers launch once. */
    provisioningToken: uuid("provisioning_token"),
    /** What the fleet called the machine that it launched for this job's present launch or attempt. */
    machineId: text("machine_id"),
    launchedAt: instant("launched_at"),
    /** Launches since the last claim. */
    launchCount: integer("launch_count").notNull().default(0),

    sourceKey: text("source_key").notNull(),
    sourceEtag: text("source_etag").notNull(),
    sourceSizeBytes: byteCount("source_size_bytes").notNull(),
    /** As the cheap probe of admission read it; null where it couldn't. */
    sourceDurationSeconds: doublePrecision("source_duration_seconds"),

    stage: stage("stage"),
    /** 0 to 1, of the present attempt. */
    progressFraction: real("progress_fraction").notNull().default(0),
    progressRenditions: jsonb("progress_renditions").$type<RenditionProgress[]>().notNull().default([]),
    /** Rendition → its playlist's key, once that rendition is complete in storage. */
    processByResolution: jsonb("process_by_resolution").$type<Record<string, string>>().notNull().default({}),

    errorCode: text("error_code"),
    errorMessage: text("error_message"),
    admittedAt: instant("admitted_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    endedAt: instant("ended_at"),
  },
  (t) => [
    uniqueIndex("jobs_idempotency").on(t.assetId, t.sourceRevision, t.profile),
    index("jobs_waiting").on(t.admittedAt, t.actionKey).where(sql`${t.state} = 'file-processing-ready'`),
    index("jobs_launches")
      .on(t.launchedAt)
      .where(sql`${t.state} = 'file-processing-ready' and ${t.provisioningToken} is not null`),
    index("jobs_unfinished")
      .on(t.admittedAt, t.actionKey)
      .where(sql`${t.state} in ('file-processing-ready', 'job-received')`),
    index("jobs_failed").on(t.endedAt, t.actionKey).where(sql`${t.state} = 'failed'`),
    index("jobs_ended").on(t.endedAt, t.actionKey).where(sql`${t.endedAt} is not null`),
    index("jobs_leases").on(t.leaseExpiryTime).where(sql`${t.state} = 'job-received'`),
    check(
      "jobs_lease_iff_received",
      sql`(${t.state} = 'job-received') = (${t.beingProcessedBy} is not null and ${t.leaseExpiryTime} is not null)
        and (${t.state} = 'job-received' or (${t.beingProcessedBy} is null and ${t.leaseExpiryTime} is null))`,
    ),
    check(
      "jobs_reason_iff_waiting",
      sql`(${t.state} = 'file-processing-ready') = (${t.waitingReason} is not null)`,
    ),
    check("jobs_attempts_within_limit", sql`${t.attemptCount} <= ${t.attemptLimit}`),
  ],
);
