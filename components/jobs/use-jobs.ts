"use client";
import type { JobFilter } from "@reelkeep/core/api/jobs";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { listJobs } from "../api-client.ts";
import { pollInterval } from "../poll-interval.ts";

/** The key below which every list of jobs is kept. */
export const jobsKey = ["jobs"] as const;

const visibleMs = { active: 3_000, failed: 15_000, ended: 15_000 } as const satisfies Record<
  JobFilter,
  number
>;
const hiddenMs = 60_000;

/** The jobs under one filter, page by page; asked again as long as the page is open. */
export const useJobs = (filter: JobFilter) =>
  useInfiniteQuery({
    queryKey: [...jobsKey, filter],
    queryFn: ({ pageParam, signal }) => listJobs({ filter, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: () => pollInterval(visibleMs[filter], hiddenMs),
    refetchIntervalInBackground: true,
  });
