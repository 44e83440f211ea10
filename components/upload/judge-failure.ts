import { ProblemError } from "../api-client.ts";

/**
 * What to do about a failed try to send a file.
 * `ask-server`: storage may have everything already; the server decides. `sign-again`: the URL ended, a fresh
 * one goes on at once. `await-network`: nobody answers; go on by itself when somebody does, however long that
 * takes. `try-later`: worth some more tries. `refused`: this file will never be taken. `stopped`: a person has
 * to do something first.
 */
export type Verdict = "ask-server" | "sign-again" | "await-network" | "try-later" | "refused" | "stopped";

const finalCodes = new Set<ProblemError["code"]>([
  "file-type-not-allowed",
  "file-too-large",
  "empty-file",
  "forbidden",
  "asset-blocked",
  "asset-deleted",
]);
const endedCodes = new Set<ProblemError["code"]>(["upload-closed", "upload-expired"]);

/** Judges what was thrown while a file was sent. `everythingSent`: its last byte had left the browser. */
export function judgeFailure(error: unknown, everythingSent: boolean): Verdict {
  if (error instanceof ProblemError) return judgeProblem(error);
  const status = storageStatus(error);
  if (status === 403) return "sign-again";
  // 412: the object is there. 404 and 409: the multipart upload was completed or given up.
  if (status === 412 || status === 404 || status === 409) return "ask-server";
  if (everythingSent) return "ask-server";
  return status === 0 ? "await-network" : "try-later";
}

function judgeProblem({ code, retryable }: ProblemError): Verdict {
  if (code === "unreachable") return "await-network";
  if (endedCodes.has(code)) return "ask-server";
  if (finalCodes.has(code)) return "refused";
  return retryable ? "try-later" : "stopped";
}

/** Whether storage no longer knows the multipart upload, so that there is nothing to resume. */
export const isMissingMultipart = (error: unknown): boolean => storageStatus(error) === 404;

/**
 * The HTTP status that storage answered, 0 where no answer came, null where the error isn't storage's. Told by
 * shape: @uppy/aws-s3 throws S3NetworkError and S3ServiceError without exporting them.
 */
function storageStatus(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if (error.name === "S3NetworkError") return 0;
  return "status" in error && typeof error.status === "number" ? error.status : null;
}
