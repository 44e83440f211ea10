"use client";
import type { AssetFilter } from "@reelkeep/core/api/assets";
import { isSettled } from "@reelkeep/core/words/status";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { listAssets } from "../api-client.ts";
import { pollInterval } from "../poll-interval.ts";

/** The key below which every list of videos is kept. */
export const assetsKey = ["assets"] as const;

const movingMs = 4_000;
const hiddenMs = 30_000;

/** The videos under one filter and search; asks again while any of them still changes. */
export function useAssets(filter: AssetFilter, q: string) {
  return useInfiniteQuery({
    queryKey: [...assetsKey, filter, q],
    queryFn: ({ pageParam, signal }) => listAssets({ filter, q, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      const moving = state.data?.pages.some(({ assets }) =>
        assets.some(({ latest }) => latest !== null && !isSettled(latest.status)),
      );
      return moving ? pollInterval(movingMs, hiddenMs) : false;
    },
    refetchIntervalInBackground: true,
  });
}
