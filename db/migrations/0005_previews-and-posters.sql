ALTER TYPE "public"."publication_action" ADD VALUE 'choose-poster';--> statement-breakpoint
ALTER TABLE "assets" ADD COLUMN "poster_version_id" uuid;--> statement-breakpoint
ALTER TABLE "assets" ADD COLUMN "poster_name" text;--> statement-breakpoint
ALTER TABLE "job_attempts" ADD COLUMN "processor" text;--> statement-breakpoint
ALTER TABLE "media_versions" ADD COLUMN "poster_suggestions" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "media_versions" ADD COLUMN "storyboard_name" text;