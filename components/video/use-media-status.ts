"use client";
import { isSettled } from "@reelkeep/core/words/status";
import { useQuery } from "@tanstack/react-query";
import { getMediaStatus } from "../api-client.ts";
import { pollInterval } from "../poll-interval.ts";

const visibleMs = 1_500;
const hiddenMs = 10_000;

/** The state of one upload and its job, asked again until nothing changes any more by itself. */
export function useMediaStatus(actionKey: string | null) {
  return useQuery({
    queryKey: ["media", actionKey],
    queryFn: ({ signal }) => getMediaStatus(actionKey ?? "", signal),
    enabled: actionKey !== null,
    refetchInterval: ({ state }) => {
      if (state.data && isSettled(state.data.status)) return false;
      return pollInterval(visibleMs, hiddenMs);
    },
    refetchIntervalInBackground: true,
  });
}
