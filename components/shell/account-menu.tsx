"use client";
import type { Account } from "@reelkeep/core/api/accounts";
import { ListVideo, LogOut, User, Users } from "lucide-react";
import Link from "next/link";
import { useSignOut } from "../account/use-sign-out.ts";
import { themeChoices, useTheme } from "../theme/theme-choice.tsx";
import { Button } from "../ui/button.tsx";
import { Menu, MenuChoices, MenuHeading, MenuItem, MenuLine } from "../ui/menu.tsx";

/** Who is signed in, and what belongs to them rather than to a video. */
export function AccountMenu({
  account,
  maySeePeople,
  maySeeJobs,
}: {
  account: Account;
  maySeePeople: boolean;
  maySeeJobs: boolean;
}) {
  const [theme, chooseTheme] = useTheme();
  const signOut = useSignOut();
  return (
    <Menu
      trigger={
        <Button size="icon" className="rounded-full">
          {initials(account.name)}
          <span className="sr-only">, account of {account.name}</span>
        </Button>
      }
    >
      <MenuHeading>
        <span className="block font-medium text-ink">{account.name}</span>
        {account.email}
      </MenuHeading>
      <MenuLine />
      <MenuItem asChild>
        <Link href="/account">
          <User aria-hidden /> Account
        </Link>
      </MenuItem>
      {maySeePeople && (
        <MenuItem asChild>
          <Link href="/admin/people">
            <Users aria-hidden /> People
          </Link>
        </MenuItem>
      )}
      {maySeeJobs && (
        <MenuItem asChild>
          <Link href="/admin/jobs">
            <ListVideo aria-hidden /> Jobs
          </Link>
        </MenuItem>
      )}
      <MenuLine />
      <MenuHeading>Theme</MenuHeading>
      <MenuChoices label="Theme" value={theme} choices={themeChoices} onChoose={chooseTheme} />
      <MenuLine />
      <MenuItem onSelect={() => signOut.mutate()}>
        <LogOut aria-hidden /> Sign out
      </MenuItem>
    </Menu>
  );
}

const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((part) => part.charAt(0).toUpperCase())
    .join("");
