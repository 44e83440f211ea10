/** People. Passwords and sessions are better-auth's business; see services/accounts. */
import type { Role } from "@reelkeep/core/access/policy";
import { asc, count, eq, sql } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now } from "./clock.ts";
import { assets } from "./schema/assets.ts";
import { accounts, users } from "./schema/users.ts";

export type User = typeof users.$inferSelect;

export async function ownerExists(db: Executor): Promise<boolean> {
  const rows = await db.select({ id: users.id }).from(users).where(eq(users.isOwner, true)).limit(1);
  return rows.length > 0;
}

/** A person who isn't there yet. `passwordHash` is made by better-auth, which reads it at the sign-in. */
export interface NewUser {
  readonly id: string;
  readonly name: string;
  /** In lower case, as better-auth looks for it. */
  readonly email: string;
  readonly passwordHash: string;
}

/**
 * Inserts a person who may do nothing yet, and what they sign in with; false where the address has an account. In a
 * transaction, because an account without its password would hold its address for ever.
 */
export async function insertUser(
  tx: Transaction,
  { id, name, email, passwordHash }: NewUser,
): Promise<boolean> {
  const times = { createdAt: now, updatedAt: now };
  const rows = await tx
    .insert(users)
    .values({ id, name, email, ...times })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id });
  if (rows.length === 0) return false;
  // better-auth's name for a password of ours; the account is the person.
  const credential = { providerId: "credential", accountId: id, userId: id, password: passwordHash };
  await tx.insert(accounts).values({ id, ...credential, ...times });
  return true;
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

/** Makes a person the owner and an admin. The caller has seen, under the lock `first-account`, that there is none. */
export async function makeOwner(tx: Transaction, id: string): Promise<void> {
  await tx.update(users).set({ isOwner: true, role: "admin", updatedAt: now }).where(eq(users.id, id));
}
