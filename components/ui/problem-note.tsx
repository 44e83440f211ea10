import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ProblemError, toProblemError } from "../api-client.ts";

/** A failure in words: what happened, what to do next, and small beside it the code to quote. */
export function ProblemNote({ error, children }: { error: unknown; children?: ReactNode }) {
  const problem = error instanceof ProblemError ? error : toProblemError(error);
  return (
    <div role="alert" className="flex gap-3 rounded-md border border-line bg-surface p-4">
      <CircleAlert aria-hidden className="mt-0.5 size-5 shrink-0 text-bad" />
      <div className="min-w-0">
        <p className="font-medium">{problem.message}</p>
        <p className="text-ink-soft">
          {problem.next} <span className="font-mono text-small">{problem.code}</span>
        </p>
        {children && <div className="mt-3">{children}</div>}
      </div>
    </div>
  );
}
