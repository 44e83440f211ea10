import { CircleAlert } from "lucide-react";
import { usePathname } from "next/navigation";
import { Button } from "../ui/button.tsx";
import type { PlayerProblem } from "./player-problem.ts";

/** In the film's place: why it doesn't play, and the one way on. */
export function PlayerRefusal({ problem, onAgain }: { problem: PlayerProblem; onAgain: () => void }) {
  const pathname = usePathname();
  return (
    <div
      role="alert"
      className="flex size-full flex-1 flex-col items-center justify-center gap-4 p-6 text-center"
    >
      <CircleAlert aria-hidden className="size-5 text-ink-soft" />
      <div>
        <p className="text-lead font-semibold text-balance">{problem.message}</p>
        <p className="mt-1 text-balance text-ink-soft">{problem.next}</p>
      </div>
      {problem.action === "again" && (
        <Button look="next" onClick={onAgain}>
          {problem.kind === "expired" ? "Continue" : "Try again"}
        </Button>
      )}
      {problem.action === "sign-in" && (
        <Button asChild look="next">
          <a href={`/sign-in?next=${encodeURIComponent(pathname)}`}>Sign in</a>
        </Button>
      )}
    </div>
  );
}
