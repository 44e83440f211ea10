CREATE TABLE "provisioning_errors" (
	"worker_id" uuid PRIMARY KEY NOT NULL,
	"action_key" uuid NOT NULL,
	"generation" integer NOT NULL,
	"machine_id" text,
	"error_code" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "worker_launches" (
	"provisioning_token" uuid PRIMARY KEY NOT NULL,
	"action_key" uuid NOT NULL,
	"generation" integer NOT NULL,
	"machine_id" text,
	"machine_type" text,
	"usd_per_hour" double precision DEFAULT 0 NOT NULL,
	"began_at" timestamp (3) with time zone NOT NULL,
	"unwanted_since" timestamp (3) with time zone,
	"gone_at" timestamp (3) with time zone,
	"refusal" text
);
--> statement-breakpoint
DROP INDEX "media_versions_prefix";--> statement-breakpoint
DROP INDEX "uploads_key_unique";--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "source_duration_seconds" double precision;--> statement-breakpoint
ALTER TABLE "worker_launches" ADD CONSTRAINT "worker_launches_action_key_jobs_action_key_fk" FOREIGN KEY ("action_key") REFERENCES "public"."jobs"("action_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "provisioning_errors_newest" ON "provisioning_errors" USING btree ("at");--> statement-breakpoint
CREATE INDEX "worker_launches_open" ON "worker_launches" USING btree ("began_at") WHERE "worker_launches"."gone_at" is null;--> statement-breakpoint
CREATE INDEX "worker_launches_gone" ON "worker_launches" USING btree ("gone_at") WHERE "worker_launches"."refusal" is null;--> statement-breakpoint
CREATE INDEX "worker_launches_job" ON "worker_launches" USING btree ("action_key","began_at");--> statement-breakpoint
CREATE INDEX "jobs_launches" ON "jobs" USING btree ("launched_at") WHERE "jobs"."state" = 'file-processing-ready' and "jobs"."provisioning_token" is not null;--> statement-breakpoint
CREATE INDEX "jobs_unfinished" ON "jobs" USING btree ("admitted_at","action_key") WHERE "jobs"."state" in ('file-processing-ready', 'job-received');--> statement-breakpoint
CREATE INDEX "jobs_failed" ON "jobs" USING btree ("ended_at","action_key") WHERE "jobs"."state" = 'failed';--> statement-breakpoint
CREATE INDEX "jobs_ended" ON "jobs" USING btree ("ended_at","action_key") WHERE "jobs"."ended_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "media_versions_prefix" ON "media_versions" USING btree ("prefix" text_pattern_ops);--> statement-breakpoint
CREATE UNIQUE INDEX "uploads_key_unique" ON "uploads" USING btree ("key" text_pattern_ops);--> statement-breakpoint
-- Launches that are under way while this migration runs count against the ceiling too.
INSERT INTO "worker_launches" ("provisioning_token", "action_key", "generation", "machine_id", "began_at")
SELECT "provisioning_token", "action_key", "generation", "machine_id", coalesce("launched_at", reelkeep_now())
FROM "jobs" WHERE "provisioning_token" IS NOT NULL AND "state" IN ('file-processing-ready', 'job-received');
