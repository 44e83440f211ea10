"use client";
import type { Role } from "@reelkeep/core/access/policy";
import type { Account } from "@reelkeep/core/api/accounts";
import { LogOut } from "lucide-react";
import { ThemeChoice } from "../theme/theme-choice.tsx";
import { Button } from "../ui/button.tsx";
import { useSignOut } from "./use-sign-out.ts";

/** What each role may do, in words. */
const roleWords: Record<Role, string> = {
  creator: "Creator: uploads videos and shares them",
  viewer: "Viewer: watches what was shared",
  admin: "Admin: sees and manages everything",
};

/** The account as its owner sees it. */
export function AccountCard({ account }: { account: Account }) {
  const signOut = useSignOut();
  return (
    <div className="flex flex-col gap-8">
      <dl className="grid grid-cols-[6rem_1fr] gap-y-3">
        <dt className="text-ink-soft">Name</dt>
        <dd>{account.name}</dd>
        <dt className="text-ink-soft">E-mail</dt>
        <dd className="break-all">{account.email}</dd>
        <dt className="text-ink-soft">Role</dt>
        <dd>{roleWords[account.role]}</dd>
      </dl>
      <ThemeChoice />
      <div className="border-t border-line pt-6">
        <Button onClick={() => signOut.mutate()} disabled={signOut.isPending}>
          <LogOut aria-hidden /> Sign out
        </Button>
      </div>
    </div>
  );
}
