/** What admins read of the machines, the line before them, and what they cost. */
import type { JobList } from "../api/jobs.ts";
import { formatUsd } from "./format.ts";

/** A figure and what it counts, e.g. `2 of 4` and `workers in use`. */
export interface FleetFact {
  readonly figure: string;
  readonly words: string;
}

/** How busy it is now. Money is left out where nothing costs any and there is no budget. */
export function describeFleet({ workers, spending }: Pick<JobList, "workers" | "spending">): FleetFact[] {
  const { alive, max, waiting } = workers;
  const { todayUsd, budgetUsd } = spending;
  const facts = [
    { figure: `${alive} of ${max}`, words: max === 1 ? "worker in use" : "workers in use" },
    { figure: `${waiting}`, words: waiting === 1 ? "job waits" : "jobs wait" },
  ];
  if (budgetUsd !== null)
    facts.push({
      figure: `${formatUsd(todayUsd)} of ${formatUsd(budgetUsd)}`,
      words: todayUsd < budgetUsd ? "spent today" : "spent today: new work waits until midnight UTC",
    });
  else if (todayUsd > 0) facts.push({ figure: formatUsd(todayUsd), words: "spent today" });
  return facts;
}
