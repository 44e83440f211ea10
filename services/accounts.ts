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
import { withAdvisoryLock } from "@reelkeep/db/advisory-lock";
import type { Database, Transaction } from "@reelkeep/db/client";
import { authTables } from "@reelkeep/db/schema/auth-tables";
import { findUser, insertUser, listUsers, makeOwner, type NewUser, ownerExists } from "@reelkeep/db/users";
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
    advanced: {
      cookiePrefix: "reelkeep",
      database: { generateId: () => crypto.randomUUID() },
      // Said, because better-auth's own default leaves the check out of tests.
      disableOriginCheck: false,
    },
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
 * @throws AppError `sign-in-failed` (whichever of the two was wrong), `rate-limited`, or `internal`.
 */
export async function signIn(
  { db, accounts }: { db: Database; accounts: Accounts },
  credentials: SignIn,
  request: { headers: Headers },
): Promise<SignedIn> {
  const url = `${accounts.options.baseURL}/api/auth/sign-in/email`;
  const headers = headersFor(accounts, request.headers);
  headers.set("content-type", "application/json");
  const body = JSON.stringify({ email: credentials.email, password: credentials.password });
  const answer = await accounts.handler(new Request(url, { method: "POST", headers, body }));
  if (answer.status === 429) throw new AppError("rate-limited");
  if (answer.status === 401) throw new AppError("sign-in-failed");
  if (!answer.ok) throw new AppError("internal", { cause: `better-auth answered ${answer.status}` });
  const { user } = (await answer.json()) as { user: { id: string } };
  const found = await findUser(db, user.id);
  if (!found) throw new AppError("sign-in-failed");
  const { id, name, email, role } = found;
  return { account: { id, name, email, role }, setCookies: answer.headers.getSetCookie() };
}

/** Ends the session of these cookies; answers the cookies that clear them. @throws AppError `internal`. */
export async function signOut(accounts: Accounts, from: Headers): Promise<string[]> {
  const answer = await accounts.api.signOut({ headers: headersFor(accounts, from), asResponse: true });
  // better-auth only logs a session that it couldn't delete.
  if (!answer.ok || (await readSession(accounts, from)))
    throw new AppError("internal", { message: "Signing out didn't work: you are still signed in." });
  return answer.headers.getSetCookie();
}

/**
 * A session for whoever has just made their account; answers its cookies. By better-auth's call on the server, which
 * isn't counted as a guess.
 */
export async function openSession(
  accounts: Accounts,
  { email, password }: { email: string; password: string },
  request: { headers: Headers },
): Promise<string[]> {
  const headers = headersFor(accounts, request.headers);
  const answer = await accounts.api.signInEmail({ body: { email, password }, headers, returnHeaders: true });
  return answer.headers.getSetCookie();
}

/**
 * X4: makes the owner's account with the one-time code. Of two at once one becomes the owner, and the other leaves
 * no account behind.
 *
 * @throws AppError `owner-exists`, `owner-code-wrong`, `email-taken`.
 */
export async function createOwner(
  needs: { db: Database; accounts: Accounts; ownerCode: string },
  { code, ...person }: Welcome,
  request: { headers: Headers },
): Promise<SignedIn> {
  if (await ownerExists(needs.db)) throw new AppError("owner-exists");
  if (!sameSecret(code, needs.ownerCode)) throw new AppError("owner-code-wrong");
  const user = await newUser(needs.accounts, person);
  await withAdvisoryLock(needs.db, "first-account", async (tx) => {
    if (await ownerExists(tx)) throw new AppError("owner-exists");
    if (!(await insertUser(tx, user))) throw new AppError("email-taken");
    await makeOwner(tx, user.id);
  });
  const { id, name, email } = user;
  const setCookies = await openSession(needs.accounts, person, request);
  return { account: { id, name, email, role: "admin" }, setCookies };
}

/**
 * Makes an account that may do nothing yet (a viewer without invitations), together with what `claim` does for it:
 * where that throws, nothing was made.
 *
 * @throws AppError `email-taken`, and what `claim` throws.
 */
export async function createAccount(
  { db, accounts }: { db: Database; accounts: Accounts },
  person: { name: string; email: string; password: string },
  claim: (tx: Transaction, userId: string) => Promise<void> = async () => {},
): Promise<Account> {
  const user = await newUser(accounts, person);
  await db.transaction(async (tx) => {
    if (!(await insertUser(tx, user))) throw new AppError("email-taken");
    await claim(tx, user.id);
  });
  return { id: user.id, name: user.name, email: user.email, role: "viewer" };
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

/** Hashes the password: slow on purpose, so it is done before a transaction holds locks. */
async function newUser(
  accounts: Accounts,
  { name, email, password }: { name: string; email: string; password: string },
): Promise<NewUser> {
  const context = await accounts.$context;
  const passwordHash = await context.password.hash(password);
  return { id: crypto.randomUUID(), name, email: email.toLowerCase(), passwordHash };
}

/**
 * What better-auth sees of a request. Our routes have checked its origin; better-auth refuses a request with
 * cookies and without that header, which programs don't send.
 */
function headersFor(accounts: Accounts, from: Headers): Headers {
  const headers = new Headers({ origin: new URL(accounts.options.baseURL).origin });
  for (const name of ["cookie", "user-agent", "x-forwarded-for"]) {
    const value = from.get(name);
    if (value) headers.set(name, value);
  }
  return headers;
}

/** Compares in constant time, whatever the lengths; case, spaces and dashes are how a person copies a code. */
function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) =>
    createHash("sha256")
      .update(text.replace(/[^A-Za-z0-9]/g, "").toUpperCase())
      .digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
