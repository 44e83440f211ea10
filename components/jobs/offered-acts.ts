import { type Actor, type AssetFacts, mayDoWith } from "@reelkeep/core/access/policy";
import type { MediaStatus } from "@reelkeep/core/api/media";

/** What the buttons of a job offer; `confirm`: cancelling is asked about once more, since work would be lost. */
export interface OfferedActs {
  readonly cancel: "no" | "at-once" | "confirm";
  readonly retry: boolean;
}

/** What these buttons hang on. */
type Known = Pick<MediaStatus, "status" | "cancelRequested" | "cancelledBy">;

/** What `actor` may do with a job as it was last seen. The server decides again: it may have moved since. */
export function offeredActs(actor: Actor, asset: AssetFacts, media: Known): OfferedActs {
  return {
    cancel: mayDoWith(actor, "cancel-job", asset) ? cancelling(media) : "no",
    retry: asset.state === "active" && mayDoWith(actor, "retry-job", asset) && isRetryable(media),
  };
}

function cancelling({ status, cancelRequested }: Known): OfferedActs["cancel"] {
  if (status === "file-processing-ready") return "at-once";
  return status === "job-received" && !cancelRequested ? "confirm" : "no";
}

/** A job that made way for a newer file, or for its video's deletion, has nothing to come back to. */
function isRetryable({ status, cancelledBy }: Known): boolean {
  if (status === "failed") return true;
  return status === "cancelled" && cancelledBy?.kind !== "newer-file" && cancelledBy?.kind !== "deletion";
}
