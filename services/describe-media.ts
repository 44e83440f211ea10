import type { Actor } from "@reelkeep/core/access/policy";
import type { MediaStatus } from "@reelkeep/core/api/media";
import type { MediaStatusRow } from "@reelkeep/db/media-status";
import { describeFailure } from "./describe-failure.ts";

/** An upload and its job as whoever may see them reads it. */
export function describeMedia(row: MediaStatusRow, actor: Actor): MediaStatus {
  const { upload, job, versionNumber, elapsedSeconds, placeInLine } = row;
  const running = job?.state === "job-received";
  return {
    actionKey: upload.actionKey,
    assetId: upload.assetId,
    status: job?.state ?? upload.state,
    filename: upload.filename,
    sizeBytes: upload.sizeBytes,
    sourceRevision: upload.sourceRevision,
    waitingReason: job?.waitingReason ?? null,
    placeInLine,
    retryAt: job?.waitingReason === "retry-backoff" ? (job.retryAt?.toISOString() ?? null) : null,
    attempt: job && { number: job.attemptCount, limit: job.attemptLimit },
    stage: running ? job.stage : null,
    progress: {
      fraction: job?.state === "processing-completed" ? 1 : running ? job.progressFraction : 0,
      secondsLeft: running ? secondsLeft(job.progressFraction, elapsedSeconds) : null,
      renditions: job?.progressRenditions ?? [],
    },
    processByResolution: job?.processByResolution ?? {},
    failure: describeFailure(upload, job),
    generation: job?.generation ?? null,
    cancelRequested: running && job.cancelRequestedAt !== null,
    cancelledBy: describeCanceller(row, actor),
    // The worker stores the preview before it tells of any progress of the smallest rendition.
    preview:
      running && row.assetState === "active" && (job.progressRenditions[0]?.fraction ?? 0) > 0
        ? { endpoint: `/api/media/${upload.actionKey}/preview` }
        : null,
    playback:
      job?.state === "processing-completed" && versionNumber !== null
        ? { endpoint: `/api/assets/${upload.assetId}/playback`, versionNumber }
        : null,
    updatedAt: (job?.updatedAt ?? upload.updatedAt).toISOString(),
  };
}

/** `cancelled_by` holds a person's id, or why a job had to make way. */
function describeCanceller({ job, cancellerName }: MediaStatusRow, actor: Actor): MediaStatus["cancelledBy"] {
  switch (job?.cancelledBy) {
    case undefined:
    case null:
      return null;
    case "superseded":
      return { kind: "newer-file", name: null };
    case "asset-blocked":
      return { kind: "block", name: null };
    case "asset-deleted":
      return { kind: "deletion", name: null };
    case actor.userId:
      return { kind: "you", name: cancellerName };
    default:
      return { kind: "person", name: cancellerName };
  }
}

/** Told only once enough is done to tell it; null before that. */
function secondsLeft(fraction: number, elapsedSeconds: number | null): number | null {
  if (elapsedSeconds === null || fraction < 0.05 || elapsedSeconds < 3) return null;
  return Math.round((elapsedSeconds * (1 - fraction)) / fraction);
}
