import type { Failure, MediaStatusName } from "@reelkeep/core/api/media";
import { errorInfo } from "@reelkeep/core/errors";
import type { Job } from "@reelkeep/db/jobs";
import type { Upload } from "@reelkeep/db/uploads";

/**
 * What went wrong with an upload or its job, for people: U6's code, sentence and what to do next. Told where it
 * ended badly, and while a job waits to be tried again; null everywhere else, whatever an earlier attempt has left
 * in the row.
 */
export function describeFailure(
  upload: Pick<Upload, "state" | "errorCode" | "errorMessage">,
  job: Pick<Job, "state" | "waitingReason" | "errorCode" | "errorMessage"> | null,
): Failure | null {
  const status: MediaStatusName = job?.state ?? upload.state;
  const endedBadly = status === "rejected" || status === "failed" || status === "expired";
  const { errorCode: code, errorMessage } = job ?? upload;
  if (!code || !(endedBadly || job?.waitingReason === "retry-backoff")) return null;
  const { message, next } = errorInfo(code);
  return { code, message: errorMessage ?? message, next };
}
