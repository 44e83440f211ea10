import { index, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { assets } from "./assets.ts";
import { instant } from "./columns.ts";
import { actorKind, publicationAction } from "./enums.ts";
import { jobs } from "./jobs.ts";
import { mediaVersions } from "./media-versions.ts";

/**
 * Who did what to a video, and when: what changed what plays, and what people did to the video or to its jobs. Written
 * with the change; never updated. What follows from an act, such as the jobs that a block cancels, has no row here.
 *
 * It bears the name of its first use, because workers of an older release write to it while a newer one migrates.
 */
export const publicationAudits = pgTable(
  "publication_audits",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    assetId: uuid("asset_id")
      .notNull()
      .references(() => assets.id),
    action: publicationAction("action").notNull(),
    actorKind: actorKind("actor_kind").notNull(),
    /** A user's id, or an attempt's. */
    actorId: text("actor_id"),
    /** The job that was cancelled or tried again. */
    actionKey: uuid("action_key").references(() => jobs.actionKey),
    /** What played before and after; both null where the act named no version. */
    beforeVersionId: uuid("before_version_id").references(() => mediaVersions.id),
    afterVersionId: uuid("after_version_id").references(() => mediaVersions.id),
    details: jsonb("details").$type<Record<string, unknown>>().notNull().default({}),
    at: instant("at").notNull(),
  },
  (t) => [index("publication_audits_asset").on(t.assetId, t.at)],
);
