import { accounts, sessions, users, verifications } from "./users.ts";

/** The four tables under the names by which better-auth asks for them. */
export const authTables = { user: users, session: sessions, account: accounts, verification: verifications };
