-- The database's clock: every guard (lease, backoff, expiry) asks this function and nothing else, so that no
-- machine's wrong clock matters and a test can travel in time by replacing it (db/testing/clock.ts).
CREATE FUNCTION "reelkeep_now"() RETURNS timestamptz
  LANGUAGE sql VOLATILE PARALLEL SAFE
  AS $$ SELECT clock_timestamp() $$;
--> statement-breakpoint
-- What plays is a version of this same asset.
CREATE UNIQUE INDEX "media_versions_asset_id" ON "media_versions" ("asset_id", "id");
--> statement-breakpoint
ALTER TABLE "assets" ADD CONSTRAINT "assets_active_version"
  FOREIGN KEY ("id", "active_version_id") REFERENCES "media_versions" ("asset_id", "id");
--> statement-breakpoint
-- A lease belongs to an attempt of this same job. Checked at commit: a claim writes the job before the attempt.
CREATE UNIQUE INDEX "job_attempts_job_id" ON "job_attempts" ("action_key", "id");
--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_lease_holder"
  FOREIGN KEY ("action_key", "being_processed_by") REFERENCES "job_attempts" ("action_key", "id")
  DEFERRABLE INITIALLY DEFERRED;
