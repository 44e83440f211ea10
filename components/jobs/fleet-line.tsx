import type { JobList } from "@reelkeep/core/api/jobs";
import { describeFleet } from "@reelkeep/core/words/fleet";
import { Skeleton } from "../ui/skeleton.tsx";

/** How busy the machines are, in one line. */
export function FleetLine({ fleet }: { fleet: Pick<JobList, "workers" | "spending"> | undefined }) {
  if (!fleet) return <Skeleton className="h-6 w-64" />;
  return (
    <ul aria-label="Workers" className="figures flex flex-wrap gap-x-5 gap-y-1 text-ink-soft">
      {describeFleet(fleet).map(({ figure, words }) => (
        <li key={words}>
          <span className="font-medium text-ink">{figure}</span> {words}
        </li>
      ))}
    </ul>
  );
}
