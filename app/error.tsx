"use client";
import { Button } from "@reelkeep/components/ui/button";
import { errorInfo } from "@reelkeep/core/errors";

/** A page that couldn't be made. `digest` is what the server's log knows it by. */
export default function ErrorPage({
  error,
  retry,
}: {
  error: Error & { digest?: string };
  retry: () => void;
}) {
  const { message, next } = errorInfo("internal");
  return (
    <main className="m-auto flex min-h-[60dvh] max-w-sm flex-col items-center justify-center gap-6 px-4 text-center">
      <div>
        <h1 className="text-title font-semibold tracking-tight text-balance">{message}</h1>
        <p className="mt-1 text-balance text-ink-soft">{next}</p>
        {error.digest && <p className="mt-3 font-mono text-small text-ink-soft">{error.digest}</p>}
      </div>
      <Button look="next" onClick={retry}>
        Try again
      </Button>
    </main>
  );
}
