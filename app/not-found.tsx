import { Logo } from "@reelkeep/components/shell/logo";
import { Button } from "@reelkeep/components/ui/button";
import { errorInfo } from "@reelkeep/core/errors";
import type { Metadata } from "next";
import Link from "next/link";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  const { message, next } = errorInfo("not-found");
  return (
    <div className="flex min-h-dvh flex-col px-4 py-8">
      <header>
        <Logo />
      </header>
      <main className="m-auto flex max-w-sm flex-col items-center gap-6 text-center">
        <div>
          <h1 className="text-title font-semibold tracking-tight text-balance">{message}</h1>
          <p className="mt-1 text-balance text-ink-soft">{next}</p>
        </div>
        <Button asChild look="next">
          <Link href="/">Go to the library</Link>
        </Button>
      </main>
    </div>
  );
}
