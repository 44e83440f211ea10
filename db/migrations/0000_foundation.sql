CREATE TYPE "public"."actor_kind" AS ENUM('user', 'worker', 'system', 'legacy-import');--> statement-breakpoint
CREATE TYPE "public"."asset_kind" AS ENUM('video', 'image');--> statement-breakpoint
CREATE TYPE "public"."asset_state" AS ENUM('active', 'blocked', 'deleted');--> statement-breakpoint
CREATE TYPE "public"."attempt_state" AS ENUM('running', 'succeeded', 'failed', 'lease-expired', 'cancelled', 'superseded', 'handed-back');--> statement-breakpoint
CREATE TYPE "public"."deletion_kind" AS ENUM('object', 'prefix');--> statement-breakpoint
CREATE TYPE "public"."job_state" AS ENUM('file-processing-ready', 'job-received', 'processing-completed', 'failed', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."outbox_kind" AS ENUM('launch-worker', 'job-ended');--> statement-breakpoint
CREATE TYPE "public"."outbox_state" AS ENUM('pending', 'sent', 'failed');--> statement-breakpoint
CREATE TYPE "public"."publication_action" AS ENUM('publish', 'rollback', 'import', 'delete');--> statement-breakpoint
CREATE TYPE "public"."stage" AS ENUM('claim', 'download', 'probe', 'plan', 'encode', 'verify', 'publish');--> statement-breakpoint
CREATE TYPE "public"."upload_method" AS ENUM('put', 'multipart');--> statement-breakpoint
CREATE TYPE "public"."upload_state" AS ENUM('url-created', 'file-uploaded', 'rejected', 'expired');--> statement-breakpoint
CREATE TYPE "public"."user_role" AS ENUM('creator', 'viewer', 'admin');--> statement-breakpoint
CREATE TYPE "public"."waiting_reason" AS ENUM('queued', 'waiting-for-slot', 'waiting-for-budget', 'launching', 'waiting-for-capacity', 'retry-backoff');--> statement-breakpoint
CREATE TABLE "assets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" "asset_kind" DEFAULT 'video' NOT NULL,
	"owner_id" text NOT NULL,
	"title" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"state" "asset_state" DEFAULT 'active' NOT NULL,
	"active_version_id" uuid,
	"source_revision" integer DEFAULT 0 NOT NULL,
	"version_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deletion_ledger" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"kind" "deletion_kind" NOT NULL,
	"target" text NOT NULL,
	"reason" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"confirmed_at" timestamp (3) with time zone,
	"failure_count" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"asset_id" uuid,
	"role" "user_role" NOT NULL,
	"email" text,
	"invited_by" text NOT NULL,
	"accepted_by" text,
	"accepted_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "invitations_viewer_iff_asset" CHECK (("invitations"."role" = 'viewer') = ("invitations"."asset_id" is not null)),
	CONSTRAINT "invitations_accepted" CHECK (("invitations"."accepted_by" is null) = ("invitations"."accepted_at" is null))
);
--> statement-breakpoint
CREATE TABLE "job_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"action_key" uuid NOT NULL,
	"attempt_number" integer NOT NULL,
	"generation" integer NOT NULL,
	"worker_id" uuid NOT NULL,
	"machine_id" text,
	"state" "attempt_state" DEFAULT 'running' NOT NULL,
	"stage" "stage" DEFAULT 'claim' NOT NULL,
	"output_prefix" text NOT NULL,
	"completed_renditions" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"error_code" text,
	"error_message" text,
	"started_at" timestamp (3) with time zone NOT NULL,
	"last_heartbeat_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"action_key" uuid PRIMARY KEY NOT NULL,
	"asset_id" uuid NOT NULL,
	"source_revision" integer NOT NULL,
	"profile" text NOT NULL,
	"state" "job_state" DEFAULT 'file-processing-ready' NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"attempt_limit" integer DEFAULT 3 NOT NULL,
	"being_processed_by" uuid,
	"lease_expiry_time" timestamp (3) with time zone,
	"last_heartbeat_at" timestamp (3) with time zone,
	"processing_started_at" timestamp (3) with time zone,
	"cancel_requested_at" timestamp (3) with time zone,
	"cancelled_by" text,
	"waiting_reason" "waiting_reason" DEFAULT 'queued',
	"retry_at" timestamp (3) with time zone,
	"provisioning_token" uuid,
	"machine_id" text,
	"launched_at" timestamp (3) with time zone,
	"launch_count" integer DEFAULT 0 NOT NULL,
	"source_key" text NOT NULL,
	"source_etag" text NOT NULL,
	"source_size_bytes" bigint NOT NULL,
	"stage" "stage",
	"progress_fraction" real DEFAULT 0 NOT NULL,
	"progress_renditions" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"process_by_resolution" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"error_code" text,
	"error_message" text,
	"admitted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "jobs_lease_iff_received" CHECK (("jobs"."state" = 'job-received') = ("jobs"."being_processed_by" is not null and "jobs"."lease_expiry_time" is not null)
        and ("jobs"."state" = 'job-received' or ("jobs"."being_processed_by" is null and "jobs"."lease_expiry_time" is null))),
	CONSTRAINT "jobs_reason_iff_waiting" CHECK (("jobs"."state" = 'file-processing-ready') = ("jobs"."waiting_reason" is not null)),
	CONSTRAINT "jobs_attempts_within_limit" CHECK ("jobs"."attempt_count" <= "jobs"."attempt_limit")
);
--> statement-breakpoint
CREATE TABLE "media_versions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"asset_id" uuid NOT NULL,
	"version_number" integer NOT NULL,
	"source_revision" integer,
	"attempt_id" uuid,
	"profile" text NOT NULL,
	"processor" text NOT NULL,
	"prefix" text NOT NULL,
	"master_name" text NOT NULL,
	"poster_name" text,
	"duration_seconds" double precision NOT NULL,
	"width" integer NOT NULL,
	"height" integer NOT NULL,
	"has_audio" boolean NOT NULL,
	"renditions" jsonb NOT NULL,
	"inventory" jsonb NOT NULL,
	"size_bytes" bigint NOT NULL,
	"verified_at" timestamp (3) with time zone NOT NULL,
	"published_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "outbox_messages" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"kind" "outbox_kind" NOT NULL,
	"action_key" uuid NOT NULL,
	"generation" integer NOT NULL,
	"payload" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"state" "outbox_state" DEFAULT 'pending' NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"available_at" timestamp (3) with time zone NOT NULL,
	"locked_until" timestamp (3) with time zone,
	"last_error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "publication_audits" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"asset_id" uuid NOT NULL,
	"action" "publication_action" NOT NULL,
	"actor_kind" "actor_kind" NOT NULL,
	"actor_id" text,
	"before_version_id" uuid,
	"after_version_id" uuid,
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "uploads" (
	"action_key" uuid PRIMARY KEY NOT NULL,
	"asset_id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"state" "upload_state" DEFAULT 'url-created' NOT NULL,
	"key" text NOT NULL,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"checksum_sha256" text,
	"method" "upload_method" NOT NULL,
	"part_size_bytes" bigint,
	"multipart_upload_id" text,
	"etag" text,
	"source_revision" integer,
	"error_code" text,
	"error_message" text,
	"last_signed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"user_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp (3) with time zone,
	"refresh_token_expires_at" timestamp (3) with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"user_id" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"role" "user_role" DEFAULT 'viewer' NOT NULL,
	"is_owner" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "assets" ADD CONSTRAINT "assets_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_asset_id_assets_id_fk" FOREIGN KEY ("asset_id") REFERENCES "public"."assets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_invited_by_users_id_fk" FOREIGN KEY ("invited_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_accepted_by_users_id_fk" FOREIGN KEY ("accepted_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_attempts" ADD CONSTRAINT "job_attempts_action_key_jobs_action_key_fk" FOREIGN KEY ("action_key") REFERENCES "public"."jobs"("action_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_action_key_uploads_action_key_fk" FOREIGN KEY ("action_key") REFERENCES "public"."uploads"("action_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_asset_id_assets_id_fk" FOREIGN KEY ("asset_id") REFERENCES "public"."assets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media_versions" ADD CONSTRAINT "media_versions_asset_id_assets_id_fk" FOREIGN KEY ("asset_id") REFERENCES "public"."assets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media_versions" ADD CONSTRAINT "media_versions_attempt_id_job_attempts_id_fk" FOREIGN KEY ("attempt_id") REFERENCES "public"."job_attempts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox_messages" ADD CONSTRAINT "outbox_messages_action_key_jobs_action_key_fk" FOREIGN KEY ("action_key") REFERENCES "public"."jobs"("action_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "publication_audits" ADD CONSTRAINT "publication_audits_asset_id_assets_id_fk" FOREIGN KEY ("asset_id") REFERENCES "public"."assets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "publication_audits" ADD CONSTRAINT "publication_audits_before_version_id_media_versions_id_fk" FOREIGN KEY ("before_version_id") REFERENCES "public"."media_versions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "publication_audits" ADD CONSTRAINT "publication_audits_after_version_id_media_versions_id_fk" FOREIGN KEY ("after_version_id") REFERENCES "public"."media_versions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_asset_id_assets_id_fk" FOREIGN KEY ("asset_id") REFERENCES "public"."assets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "assets_owner_newest" ON "assets" USING btree ("owner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "assets_newest" ON "assets" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "deletion_ledger_open_target" ON "deletion_ledger" USING btree ("target") WHERE "deletion_ledger"."confirmed_at" is null;--> statement-breakpoint
CREATE INDEX "deletion_ledger_due" ON "deletion_ledger" USING btree ("due_at") WHERE "deletion_ledger"."confirmed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_token" ON "invitations" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "invitations_asset" ON "invitations" USING btree ("asset_id","created_at");--> statement-breakpoint
CREATE INDEX "invitations_grants" ON "invitations" USING btree ("accepted_by","asset_id") WHERE "invitations"."revoked_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "job_attempts_number" ON "job_attempts" USING btree ("action_key","attempt_number");--> statement-breakpoint
CREATE UNIQUE INDEX "job_attempts_one_running" ON "job_attempts" USING btree ("action_key") WHERE "job_attempts"."state" = 'running';--> statement-breakpoint
CREATE INDEX "job_attempts_ended" ON "job_attempts" USING btree ("ended_at");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_idempotency" ON "jobs" USING btree ("asset_id","source_revision","profile");--> statement-breakpoint
CREATE INDEX "jobs_waiting" ON "jobs" USING btree ("admitted_at","action_key") WHERE "jobs"."state" = 'file-processing-ready';--> statement-breakpoint
CREATE INDEX "jobs_leases" ON "jobs" USING btree ("lease_expiry_time") WHERE "jobs"."state" = 'job-received';--> statement-breakpoint
CREATE UNIQUE INDEX "media_versions_number" ON "media_versions" USING btree ("asset_id","version_number");--> statement-breakpoint
CREATE UNIQUE INDEX "media_versions_attempt" ON "media_versions" USING btree ("attempt_id");--> statement-breakpoint
CREATE UNIQUE INDEX "media_versions_prefix" ON "media_versions" USING btree ("prefix");--> statement-breakpoint
CREATE INDEX "outbox_due" ON "outbox_messages" USING btree ("available_at","created_at") WHERE "outbox_messages"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "outbox_job" ON "outbox_messages" USING btree ("action_key");--> statement-breakpoint
CREATE INDEX "publication_audits_asset" ON "publication_audits" USING btree ("asset_id","at");--> statement-breakpoint
CREATE UNIQUE INDEX "uploads_key_unique" ON "uploads" USING btree ("key");--> statement-breakpoint
CREATE INDEX "uploads_asset_newest" ON "uploads" USING btree ("asset_id","created_at");--> statement-breakpoint
CREATE INDEX "uploads_open" ON "uploads" USING btree ("last_signed_at") WHERE "uploads"."state" = 'url-created';--> statement-breakpoint
CREATE INDEX "accounts_user" ON "accounts" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_provider" ON "accounts" USING btree ("provider_id","account_id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_unique" ON "users" USING btree ("email");--> statement-breakpoint
CREATE UNIQUE INDEX "users_one_owner" ON "users" USING btree ("is_owner") WHERE "users"."is_owner";--> statement-breakpoint
CREATE INDEX "verifications_identifier" ON "verifications" USING btree ("identifier");