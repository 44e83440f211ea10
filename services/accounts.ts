import { createHash, timingSafeEqual } from "node:crypto";
import { type Actor, mayDo, type Role } from "@reelkeep/core/access/policy";
import {
  type Account,
  type People,
  passwordBytesMin,
  type SignIn,
  type Welcome,
} from "@reelkeep/core/api/accounts";
import { AppError } from "@reelkeep/core/errors";
import type { Database } from "@reelkeep/db/client";
import { authTables } from "@reelkeep/db/schema/auth-tables";
import { findUser, listUsers, makeOwner, ownerExists } from "@reelkeep/db/users";
import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { listGeneralInvitations } from "./invite-people.ts";

/**
 * Accounts by better-auth: password hashes, sessions, cookies, limits on guessing. Its own routes aren't mounted;
 * the services below are the only way in, and signing up alone makes nothing (see createAccount).
 */
export function createAccounts(options: {
  db: Database;
  secret: string;
  /** The dashboard's address; an https one makes the cookies Secure. */
  appUrl: string;
}) {
  return betterAuth({
    baseURL: options.appUrl,
    secret: options.secret,
    database: drizzleAdapter(options.db, { provider: "pg", schema: authTables }),
    emailAndPassword: { enabled: true, disableSignUp: true, minPasswordLength: passwordBytesMin },
    user: {
      additionalFields: {
        role: { type: "string", input: false, required: false, defaultValue: "viewer" },
        isOwner: { type: "boolean", input: false, required: false, defaultValue: false },
      },
    },
    session: { expiresIn: 30 * 24 * 3600, updateAge: 24 * 3600 },
    advanced: { cookiePrefix: "reelkeep", database: { generateId: () => crypto.randomUUID() } },
    rateLimit: {
      enabled: true,
      customRules: { "/sign-in/email": { window: 60, max: 10 } },
    },
    telemetry: { enabled: false },
    // A wrong password is an answer, not an event; faults reach us as errors.
    logger: { level: "error" },
  });
}

/** better-auth, as the services use it. */
export type Accounts = ReturnType<typeof createAccounts>;

/** Who a request's cookies say is asking; null for nobody. */
export async function readSession(accounts: Accounts, headers: Headers): Promise<Account | null> {
  const session = await accounts.api.getSession({ headers });
  if (!session) return null;
  const { id, name, email, role } = session.user;
  return { id, name, email, role: role as Role };
}

/** The actor that an account is to the policy. */
export const actorOf = (account: Account): Actor => ({ userId: account.id, role: account.role });

/** An account and the cookies that sign its browser in. */
export interface SignedIn {
  readonly account: Account;
  readonly setCookies: string[];
}

/**
 * Signs in. Goes through better-auth's own handler, which limits guessing.
 *
 * @throws AppError `sign-in-failed` (whichever of the two was wrong) or `rate-limited`.
 */
export async function signIn(
  { db, accounts }: { db: Database; accounts: Accounts },
  credentials: SignIn,
  request: { headers: Headers },
): Promise<SignedIn> {
  const answer = await callAuth(accounts, "/sign-in/email", credentials, request.headers);
  if (answer.status === 429) throw new AppError("rate-limited");
  if (!answer.ok) throw new AppError("sign-in-failed");
  const { user } = (await answer.json()) as { user: { id: string } };
  const found = await findUser(db, user.id);
  if (!found) throw new AppError("sign-in-failed");
  const { id, name, email, role } = found;
  return { account: { id, name, email, role }, setCookies: answer.headers.getSetCookie() };
}

/** Ends the session of these cookies; answers the cookies that clear them. */
export async function signOut(accounts: Accounts, headers: Headers): Promise<string[]> {
  const answer = await callAuth(accounts, "/sign-out", {}, headers);
  return answer.headers.getSetCookie();
}

/**
 * X4: makes the owner's account with the one-time code. Two at once can't both become the owner: a unique index
 * allows one.
 *
 * @throws AppError `owner-exists`, `owner-code-wrong`, `email-taken`.
 */
export async function createOwner(
  needs: { db: Database; accounts: Accounts; ownerCode: string },
  { code, name, email, password }: Welcome,
  request: { headers: Headers },
): Promise<SignedIn> {
  if (await ownerExists(needs.db)) throw new AppError("owner-exists");
  if (!sameSecret(code, needs.ownerCode)) throw new AppError("owner-code-wrong");
  const userId = await createAccount(needs.accounts, { name, email, password });
  if (!(await makeOwner(needs.db, userId))) throw new AppError("owner-exists");
  return signIn(needs, { email, password }, request);
}

/**
 * Makes an account that may do nothing yet (a viewer without invitations) and answers its id.
 *
 * @throws AppError `email-taken`.
 */
export async function createAccount(
  accounts: Accounts,
  person: { name: string; email: string; password: string },
): Promise<string> {
  const { internalAdapter, password } = await accounts.$context;
  if (await internalAdapter.findUserByEmail(person.email)) throw new AppError("email-taken");
  const hash = await password.hash(person.password);
  const user = await internalAdapter
    .createUser(
      { name: person.name, email: person.email, emailVerified: false },
      { method: "email-password" },
    )
    .catch((cause: unknown) => {
      // The unique index on the address decides between two at once.
      throw new AppError("email-taken", { cause });
    });
  await internalAdapter.linkAccount({
    userId: user.id,
    accountId: user.id,
    providerId: "credential",
    password: hash,
  });
  return user.id;
}

/** X4: everybody, and the open invitations of creators. @throws AppError `forbidden`. */
export async function listPeople({ db }: { db: Database }, actor: Actor): Promise<People> {
  if (!mayDo(actor, "see-people")) throw new AppError("forbidden");
  const [rows, invitations] = await Promise.all([listUsers(db), listGeneralInvitations({ db }, actor)]);
  return {
    people: rows.map(({ user: { id, name, email, role, createdAt }, videoCount }) => ({
      id,
      name,
      email,
      role,
      createdAt: createdAt.toISOString(),
      videoCount,
    })),
    invitations,
  };
}

function callAuth(accounts: Accounts, path: string, body: unknown, from: Headers): Promise<Response> {
  const headers = new Headers({ "content-type": "application/json" });
  for (const name of ["cookie", "origin", "user-agent", "x-forwarded-for"]) {
    const value = from.get(name);
    if (value) headers.set(name, value);
  }
  const url = `${accounts.options.baseURL}/api/auth${path}`;
  return accounts.handler(new Request(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** Compares in constant time, whatever the lengths. */
function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text.trim().toUpperCase()).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
