import type { Account } from "@reelkeep/core/api/accounts";
import { redirect } from "next/navigation";
import { signInPath } from "./return-path.ts";
import { currentAccount, ownerExists } from "./server/context.ts";

/**
 * The account of whoever asks for the page at `path`. Nobody signed in: leads to sign-in and back to `path`
 * afterwards, or to the first run while there is no owner.
 */
export async function requireAccount(path: string): Promise<Account> {
  const account = await currentAccount();
  if (account) return account;
  redirect((await ownerExists()) ? signInPath(path) : "/welcome");
}
