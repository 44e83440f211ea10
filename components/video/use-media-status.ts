"use client";
import { isSettled } from "@reelkeep/core/words/status";
import { useQuery } from "@tanstack/react-query";
import { getMediaStatus } from "../api-client.ts";
import { pollInterval } from "../poll-interval.ts";

const visibleMs = 1_500;
const hiddenMs = 10_000;
/** What failed or was cancelled may be tried again elsewhere, by an admin. */
const reopenableMs = 20_000;

/**
 * The state of one upload and its job, asked again until nothing changes any more by itself. A retry moves it out of
 * such a state; whoever asks for it then sets the pace again.
 */
export function useMediaStatus(actionKey: string | null) {
  return useQuery({
    queryKey: ["media", actionKey],
    queryFn: ({ signal }) => getMediaStatus(actionKey ?? "", signal),
    enabled: actionKey !== null,
    refetchInterval: ({ state }) => {
      const status = state.data?.status;
      if (status === "failed" || status === "cancelled") return pollInterval(reopenableMs, hiddenMs * 6);
      if (status && isSettled(status)) return false;
      return pollInterval(visibleMs, hiddenMs);
    },
    refetchIntervalInBackground: true,
  });
}
