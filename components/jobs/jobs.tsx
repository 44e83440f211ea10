"use client";
import type { Actor } from "@reelkeep/core/access/policy";
import { type JobFilter, jobFilters } from "@reelkeep/core/api/jobs";
import { ListVideo } from "lucide-react";
import { useSearchParams } from "next/navigation";
import { useRef } from "react";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { LinkTabs } from "../ui/link-tabs.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { FleetLine } from "./fleet-line.tsx";
import { JobItem, JobItemSkeleton } from "./job-item.tsx";
import { LostWorkers } from "./lost-workers.tsx";
import { useJobs } from "./use-jobs.ts";

const labels: Record<JobFilter, string> = { active: "Active", failed: "Failed", ended: "Ended" };

const emptyWords: Record<JobFilter, { title: string; text: string }> = {
  active: {
    title: "No job waits or runs",
    text: "Every video whose file has arrived shows here until it is done.",
  },
  failed: {
    title: "No job has failed",
    text: "Videos that couldn't be processed would be here, with the reason.",
  },
  ended: {
    title: "No job has ended yet",
    text: "Finished, failed and cancelled jobs show here, the latest first.",
  },
};

const list = "divide-y divide-line border-b border-line";

/** What is processed, what waits, and what needs an admin. */
export function Jobs({ actor }: { actor: Actor }) {
  const filter = parseFilter(useSearchParams().get("filter"));
  const jobs = useJobs(filter);
  const place = useRef<HTMLElement>(null);
  const pages = jobs.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.jobs);
  const [first] = pages;

  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-baseline justify-between gap-x-8 gap-y-1">
        <h1 className="text-title font-semibold tracking-tight">Jobs</h1>
        {(first || !jobs.error) && <FleetLine fleet={first} />}
      </div>
      {first && first.provisioningErrors.length > 0 && <LostWorkers errors={first.provisioningErrors} />}
      <div>
        <LinkTabs
          label="Filter"
          tabs={jobFilters.map((name) => ({
            label: labels[name],
            href: name === "active" ? "/admin/jobs" : `/admin/jobs?filter=${name}`,
            chosen: name === filter,
            count: null,
          }))}
        />
        <section
          ref={place}
          tabIndex={-1}
          aria-label={`${labels[filter]} jobs`}
          className="focus:outline-none"
        >
          {jobs.error && (
            <div className="py-4">
              <ProblemNote error={jobs.error}>
                <Button onClick={() => jobs.refetch()}>Try again</Button>
              </ProblemNote>
            </div>
          )}
          {jobs.isPending || jobs.isPlaceholderData ? (
            <div className={list} aria-busy="true">
              {Array.from({ length: 4 }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity.
                <JobItemSkeleton key={index} />
              ))}
            </div>
          ) : rows.length > 0 ? (
            <ul className={list}>
              {rows.map((row) => (
                <JobItem key={row.media.actionKey} row={row} actor={actor} focusWhenDone={place} />
              ))}
            </ul>
          ) : (
            first && <Empty icon={<ListVideo aria-hidden />} {...emptyWords[filter]} />
          )}
        </section>
      </div>
      {jobs.hasNextPage && !jobs.isPlaceholderData && (
        <Button
          className="self-center"
          onClick={() => jobs.fetchNextPage()}
          disabled={jobs.isFetchingNextPage}
        >
          {jobs.isFetchingNextPage ? "Loading more" : "Show more"}
        </Button>
      )}
    </div>
  );
}

const parseFilter = (value: string | null): JobFilter =>
  jobFilters.find((filter) => filter === value) ?? "active";
