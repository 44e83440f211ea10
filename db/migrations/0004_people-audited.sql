ALTER TYPE "public"."publication_action" ADD VALUE 'block';--> statement-breakpoint
ALTER TYPE "public"."publication_action" ADD VALUE 'unblock';--> statement-breakpoint
ALTER TYPE "public"."publication_action" ADD VALUE 'cancel';--> statement-breakpoint
ALTER TYPE "public"."publication_action" ADD VALUE 'retry';--> statement-breakpoint
ALTER TABLE "publication_audits" ADD COLUMN "action_key" uuid;--> statement-breakpoint
ALTER TABLE "publication_audits" ADD CONSTRAINT "publication_audits_action_key_jobs_action_key_fk" FOREIGN KEY ("action_key") REFERENCES "public"."jobs"("action_key") ON DELETE no action ON UPDATE no action;