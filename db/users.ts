/** People. Passwords and sessions are better-auth's business; see services/accounts. */
import type { Role } from "@reelkeep/core/access/policy";
import { asc, count, eq, sql } from "drizzle-orm";
import { withAdvisoryLock } from "./advisory-lock.ts";
import type { Database, Executor, Transaction } from "./client.ts";
import { now } from "./clock.ts";
import { assets } from "./schema/assets.ts";
import { users } from "./schema/users.ts";

export type User = typeof users.$inferSelect;

export async function ownerExists(db: Executor): Promise<boolean> {
  const rows = await db.select({ id: users.id }).from(users).where(eq(users.isOwner, true)).limit(1);
  return rows.length > 0;
}

export async function findUser(db: Executor, id: string): Promise<User | null> {
  const rows = await db.select().from(users).where(eq(users.id, id));
  return rows[0] ?? null;
}

/** Raises a person's role; never lowers it. */
export async function raiseRole(db: Executor, id: string, role: Role): Promise<void> {
  // The enum's own order says nothing about rank, so the rank is told here.
  const rank = (value: unknown) => sql`array_position(array['viewer', 'creator', 'admin'], ${value}::text)`;
  await db
    .update(users)
    .set({ role, updatedAt: now })
    .where(sql`${users.id} = ${id} and ${rank(users.role)} < ${rank(role)}`);
}

export const listUsers = (db: Executor) =>
  db
    .select({ user: users, videoCount: count(assets.id) })
    .from(users)
    .leftJoin(assets, eq(assets.ownerId, users.id))
    .groupBy(users.id)
    .orderBy(asc(users.createdAt));

/** Locks a person's row until the transaction ends: what counts against a quota is counted one after another. */
export async function lockUser(tx: Transaction, id: string): Promise<void> {
  await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for("update");
}

/** Makes a person the owner and an admin; false where there is an owner already (the index `users_one_owner`). */
export async function makeOwner(db: Database, id: string): Promise<boolean> {
  return withAdvisoryLock(db, "first-account", async (tx) => {
    if (await ownerExists(tx)) return false;
    await tx.update(users).set({ isOwner: true, role: "admin", updatedAt: now }).where(eq(users.id, id));
    return true;
  });
}
