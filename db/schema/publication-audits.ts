import { index, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { assets } from "./assets.ts";
import { instant } from "./columns.ts";
import { actorKind, publicationAction } from "./enums.ts";
import { mediaVersions } from "./media-versions.ts";

/** Who changed what plays, when, from which version to which. Written with the change; never updated. */
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
    beforeVersionId: uuid("before_version_id").references(() => mediaVersions.id),
    afterVersionId: uuid("after_version_id").references(() => mediaVersions.id),
    details: jsonb("details").$type<Record<string, unknown>>().notNull().default({}),
    at: instant("at").notNull(),
  },
  (t) => [index("publication_audits_asset").on(t.assetId, t.at)],
);
