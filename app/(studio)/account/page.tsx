import { AccountCard } from "@reelkeep/components/account/account-card";
import type { Metadata } from "next";
import { requireAccount } from "../../require-account.ts";

export const metadata: Metadata = { title: "Account" };

export default async function AccountPage() {
  const account = await requireAccount("/account");
  return (
    <div className="mx-auto flex max-w-xl flex-col gap-6">
      <h1 className="text-title font-semibold tracking-tight">Account</h1>
      <AccountCard account={account} />
    </div>
  );
}
