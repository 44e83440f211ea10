/** Invitations: the links that let people in, and, once accepted, the permission to watch. */
import { and, desc, eq, gt, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import { assets } from "./schema/assets.ts";
import { invitations } from "./schema/invitations.ts";
import { users } from "./schema/users.ts";

export type InvitationRow = Awaited<ReturnType<typeof selectInvitations>>[number];

const selectInvitations = (db: Executor) =>
  db
    .select({
      invitation: invitations,
      invitedByName: sql<string>`(select name from users inviter where inviter.id = ${invitations.invitedBy})`,
      acceptedByName: users.name,
      assetTitle: assets.title,
      assetState: assets.state,
      expired: sql<boolean>`${invitations.expiresAt} <= ${now}`,
    })
    .from(invitations)
    .leftJoin(users, eq(users.id, invitations.acceptedBy))
    .leftJoin(assets, eq(assets.id, invitations.assetId));

export async function insertInvitation(
  db: Executor,
  invitation: Pick<
    typeof invitations.$inferSelect,
    "id" | "tokenHash" | "assetId" | "role" | "email" | "invitedBy"
  > & { validSeconds: number },
): Promise<void> {
  const { validSeconds, ...row } = invitation;
  await db.insert(invitations).values({ ...row, expiresAt: secondsFromNow(validSeconds), createdAt: now });
}

export async function findInvitation(db: Executor, id: string): Promise<InvitationRow | null> {
  const rows = await selectInvitations(db).where(eq(invitations.id, id));
  return rows[0] ?? null;
}

export async function findInvitationByToken(db: Executor, tokenHash: string): Promise<InvitationRow | null> {
  const rows = await selectInvitations(db).where(eq(invitations.tokenHash, tokenHash));
  return rows[0] ?? null;
}

/** Those of one video, or the general ones (null), the newest first. */
export const listInvitations = (db: Executor, assetId: string | null): Promise<InvitationRow[]> =>
  selectInvitations(db)
    .where(assetId === null ? isNull(invitations.assetId) : eq(invitations.assetId, assetId))
    .orderBy(desc(invitations.createdAt));

/** One person accepts, once; repeating it answers true again for the same person. */
export async function acceptInvitation(db: Executor, id: string, userId: string): Promise<boolean> {
  const rows = await db
    .update(invitations)
    .set({ acceptedBy: userId, acceptedAt: sql`coalesce(${invitations.acceptedAt}, ${now})` })
    .where(
      and(
        eq(invitations.id, id),
        isNull(invitations.revokedAt),
        or(
          eq(invitations.acceptedBy, userId),
          and(isNull(invitations.acceptedBy), gt(invitations.expiresAt, now)),
        ),
      ),
    )
    .returning({ id: invitations.id });
  return rows.length > 0;
}

/**
 * Ends an invitation and what it permits; false where nothing was changed: it had ended before, or made somebody a
 * creator, which an invitation can't take back.
 */
export async function revokeInvitation(db: Executor, id: string): Promise<boolean> {
  const rows = await db
    .update(invitations)
    .set({ revokedAt: now })
    .where(
      and(
        eq(invitations.id, id),
        isNull(invitations.revokedAt),
        or(isNotNull(invitations.assetId), isNull(invitations.acceptedBy)),
      ),
    )
    .returning({ id: invitations.id });
  return rows.length > 0;
}
