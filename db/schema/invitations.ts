import { sql } from "drizzle-orm";
import { check, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { assets } from "./assets.ts";
import { instant } from "./columns.ts";
import { userRole } from "./enums.ts";
import { users } from "./users.ts";

/**
 * A link that lets one person in: to one video (a viewer), or as a creator. Accepted and not revoked, it *is*
 * the permission to watch; there is no second list of viewers. Only the token's hash is stored.
 */
export const invitations = pgTable(
  "invitations",
  {
    id: uuid("id").primaryKey(),
    /** SHA-256 of the token, hex. */
    tokenHash: text("token_hash").notNull(),
    assetId: uuid("asset_id").references(() => assets.id),
    role: userRole("role").notNull(),
    /** When set, only an account with this address may accept. */
    email: text("email"),
    invitedBy: text("invited_by")
      .notNull()
      .references(() => users.id),
    acceptedBy: text("accepted_by").references(() => users.id),
    acceptedAt: instant("accepted_at"),
    revokedAt: instant("revoked_at"),
    expiresAt: instant("expires_at").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [
    uniqueIndex("invitations_token").on(t.tokenHash),
    index("invitations_asset").on(t.assetId, t.createdAt),
    index("invitations_grants").on(t.acceptedBy, t.assetId).where(sql`${t.revokedAt} is null`),
    check("invitations_viewer_iff_asset", sql`(${t.role} = 'viewer') = (${t.assetId} is not null)`),
    check("invitations_accepted", sql`(${t.acceptedBy} is null) = (${t.acceptedAt} is null)`),
  ],
);
