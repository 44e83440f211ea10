import { Logo } from "@reelkeep/components/shell/logo";
import type { ReactNode } from "react";

/** The few pages before one is in: one narrow column. */
export default function EntranceLayout({ children }: { children: ReactNode }) {
  return (
    <div className="flex min-h-dvh flex-col px-4 py-8">
      <header>
        <Logo />
      </header>
      <main className="mx-auto flex w-full max-w-sm flex-1 flex-col justify-center py-10">{children}</main>
    </div>
  );
}
