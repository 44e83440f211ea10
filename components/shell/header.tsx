import { mayDo } from "@reelkeep/core/access/policy";
import type { Account } from "@reelkeep/core/api/accounts";
import Link from "next/link";
import { UploadButton } from "../upload/upload-button.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { Logo, LogoMark } from "./logo.tsx";
import { SearchBox } from "./search-box.tsx";

/** The bar on top: home, search, the one next thing (upload), and the account. */
export function Header({ account }: { account: Account }) {
  const actor = { userId: account.id, role: account.role };
  return (
    <header className="sticky top-0 z-30 border-b border-line bg-canvas">
      <div className="mx-auto flex h-14 max-w-7xl items-center gap-3 px-4 sm:px-6">
        <Link href="/" aria-label="Reelkeep, library" className="mr-auto rounded-md sm:mr-6">
          <span className="hidden sm:block">
            <Logo />
          </span>
          <LogoMark className="size-6 sm:hidden" />
        </Link>
        <SearchBox />
        <div className="flex items-center gap-3 sm:ml-auto">
          {mayDo(actor, "create-asset") && <UploadButton />}
          <AccountMenu
            account={account}
            maySeePeople={mayDo(actor, "see-people")}
            maySeeJobs={mayDo(actor, "see-jobs")}
          />
        </div>
      </div>
    </header>
  );
}
