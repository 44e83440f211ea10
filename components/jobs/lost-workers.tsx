import type { JobList } from "@reelkeep/core/api/jobs";
import { errorInfo } from "@reelkeep/core/errors";
import { CircleAlert } from "lucide-react";
import { LocalMoment } from "../ui/local-moment.tsx";

/** J1: workers that came for a job that doesn't exist. Something launches them, and an admin should know what. */
export function LostWorkers({ errors }: { errors: JobList["provisioningErrors"] }) {
  const [latest] = errors;
  if (!latest) return null;
  const { message, next } = errorInfo(latest.code);
  return (
    <section
      aria-labelledby="lost-workers"
      className="flex gap-3 rounded-md border border-line bg-surface p-4"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-5 shrink-0 text-bad" />
      <div className="min-w-0">
        <h2 id="lost-workers" className="font-medium">
          {message}
        </h2>
        <p className="max-w-prose text-ink-soft">{next}</p>
        <ul className="figures mt-3 flex flex-col gap-1.5 text-small text-ink-soft">
          {errors.map(({ actionKey, machineId, code, at }) => (
            <li key={`${actionKey} ${at}`} className="flex flex-wrap gap-x-3">
              <LocalMoment iso={at} />
              <span className="break-all">
                <span className="font-mono">{actionKey}</span>
                {machineId && (
                  <>
                    {" "}
                    on <span className="font-mono">{machineId}</span>
                  </>
                )}
              </span>
              <span className="font-mono">{code}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
