import { index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { assetKind, assetState } from "./enums.ts";
import { users } from "./users.ts";

/**
 * The lasting identity of a video: its URL and its title stay when the file is replaced or rolled back.
 * What plays is `active_version_id`, and only publication, rollback and import move it, under this row's lock.
 */
export const assets = pgTable(
  "assets",
  {
    id: uuid("id").primaryKey(),
    kind: assetKind("kind").notNull().default("video"),
    ownerId: text("owner_id")
      .notNull()
      .references(() => users.id),
    title: text("title").notNull(),
    description: text("description").notNull().default(""),
    state: assetState("state").notNull().default("active"),
    /**
     * Null until something was published. The migration `clock-and-pointers` ties it to a version of this same
     * asset; the foreign key isn't told here because the two files would import each other.
     */
    activeVersionId: uuid("active_version_id"),
    /** The picture that somebody chose, for one version; another version stands for itself again. */
    posterVersionId: uuid("poster_version_id"),
    posterName: text("poster_name"),
    /** The newest admitted source revision; 0 before the first. Raised under this row's lock. */
    sourceRevision: integer("source_revision").notNull().default(0),
    /** The newest version's number; 0 before the first. */
    versionCount: integer("version_count").notNull().default(0),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (t) => [
    index("assets_owner_newest").on(t.ownerId, t.createdAt, t.id),
    index("assets_newest").on(t.createdAt, t.id),
  ],
);
