import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { attemptState, stage } from "./enums.ts";
import { jobs } from "./jobs.ts";

/**
 * One worker's hold on a job, kept for ever: the log from which machine minutes, costs and faults are read.
 * The worker makes the id before it claims, so that it can ask again when an answer is lost.
 */
export const jobAttempts = pgTable(
  "job_attempts",
  {
    id: uuid("id").primaryKey(),
    actionKey: uuid("action_key")
      .notNull()
      .references(() => jobs.actionKey),
    /** 1, 2, 3… of its job: the n in `attempt-{n}/`. */
    attemptNumber: integer("attempt_number").notNull(),
    generation: integer("generation").notNull(),
    /** One per process start; never a machine's id. */
    workerId: uuid("worker_id").notNull(),
    machineId: text("machine_id"),
    state: attemptState("state").notNull().default("running"),
    stage: stage("stage").notNull().default("claim"),
    /** What makes the pictures: `ffmpeg-cpu`, `ffmpeg-nvenc`; null until encoding has begun. Changes when a card fails. */
    processor: text("processor"),
    /** Everything that this attempt writes lies below it. */
    outputPrefix: text("output_prefix").notNull(),
    completedRenditions: jsonb("completed_renditions").$type<string[]>().notNull().default([]),
    errorCode: text("error_code"),
    /** Safe to show. */
    errorMessage: text("error_message"),
    startedAt: instant("started_at").notNull(),
    lastHeartbeatAt: instant("last_heartbeat_at").notNull(),
    endedAt: instant("ended_at"),
  },
  (t) => [
    uniqueIndex("job_attempts_number").on(t.actionKey, t.attemptNumber),
    /** Two live holds on one job can't exist, whatever the code does. */
    uniqueIndex("job_attempts_one_running").on(t.actionKey).where(sql`${t.state} = 'running'`),
    index("job_attempts_ended").on(t.endedAt),
  ],
);
