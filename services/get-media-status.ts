import { type Actor, mayDoWith } from "@reelkeep/core/access/policy";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { AppError } from "@reelkeep/core/errors";
import { findMediaStatus, type MediaStatusRow } from "@reelkeep/db/media-status";
import type { ServiceContext } from "./context.ts";
import { describeFailure } from "./describe-failure.ts";

/**
 * U8: what became of one upload, for its owner and admins.
 *
 * @throws AppError `not-found` for everybody else: that it exists is nobody else's business.
 */
export async function getMediaStatus(
  { db }: Pick<ServiceContext, "db">,
  actor: Actor,
  actionKey: string,
): Promise<MediaStatus> {
  const row = await findMediaStatus(db, actionKey);
  if (!row) throw new AppError("not-found");
  const facts = { ownerId: row.ownerId, state: row.assetState, invited: false };
  if (!mayDoWith(actor, "see-details", facts) && row.upload.userId !== actor.userId)
    throw new AppError("not-found");
  return toMediaStatus(row);
}

function toMediaStatus({
  upload,
  job,
  versionNumber,
  elapsedSeconds,
  placeInLine,
}: MediaStatusRow): MediaStatus {
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
    cancelledBy: job?.cancelledBy ?? null,
    playback:
      job?.state === "processing-completed" && versionNumber !== null
        ? { endpoint: `/api/assets/${upload.assetId}/playback`, versionNumber }
        : null,
    updatedAt: (job?.updatedAt ?? upload.updatedAt).toISOString(),
  };
}

/** Told only once enough is done to tell it; null before that. */
function secondsLeft(fraction: number, elapsedSeconds: number | null): number | null {
  if (elapsedSeconds === null || fraction < 0.05 || elapsedSeconds < 3) return null;
  return Math.round((elapsedSeconds * (1 - fraction)) / fraction);
}
