/**
 * Every failure that a person, a script or the database may meet, told once.
 *
 * A code is stable: it is stored, quoted and tested. Its row says what happened, what to do next, which HTTP
 * status answers it, and whether the same work may succeed when it is tried again.
 */
const rows = {
  // Requests
  "invalid-request": row(
    400,
    "The request isn't complete or isn't well-formed.",
    "Check the fields and send it again.",
  ),
  unauthenticated: row(401, "You are not signed in.", "Sign in and try again."),
  forbidden: row(403, "You may not do this.", "Ask the owner or an admin."),
  "not-found": row(
    404,
    "There is nothing here that you may see.",
    "Check the address, or ask its owner for access.",
  ),
  conflict: row(409, "This changed while you were looking at it.", "Reload and try again."),
  "rate-limited": row(
    429,
    "That was too often in a short time.",
    "Wait a minute and try again.",
    "retryable",
  ),
  internal: row(
    500,
    "The server met a fault of its own.",
    "Try again; if it stays, send the time and this code to your admin.",
    "retryable",
  ),

  // Accounts
  "owner-exists": row(
    409,
    "This installation already has its owner.",
    "Sign in, or ask the owner for an invitation.",
  ),
  "owner-code-wrong": row(403, "That isn't the one-time code.", "Copy the code that was printed at start."),
  "email-taken": row(409, "There is already an account with this e-mail address.", "Sign in instead."),
  "sign-in-failed": row(401, "E-mail and password don't match.", "Check both and try again."),
  "password-too-short": row(400, "The password is too short.", "Use at least 10 characters."),
  "invitation-invalid": row(404, "This invitation isn't valid.", "Ask for a new one."),
  "invitation-expired": row(410, "This invitation has ended.", "Ask for a new one."),
  "account-blocked": row(403, "This account is blocked.", "Ask an admin."),

  // Asking for an upload
  "file-type-not-allowed": row(
    415,
    "This kind of file isn't accepted.",
    "Choose a video file: MP4, MOV, MKV, WebM, AVI and others.",
  ),
  "file-too-large": row(
    413,
    "This file is larger than the limit.",
    "Choose a smaller file or export it at a lower bitrate.",
  ),
  "quota-exceeded": row(413, "Your storage is full.", "Delete something, or ask an admin for more room."),
  "too-many-unfinished": row(
    429,
    "You have too many unfinished uploads.",
    "Finish or cancel some of them. Those that stand still for a day end by themselves.",
  ),
  "upload-mismatch": row(
    403,
    "This request doesn't belong to the upload that was allowed.",
    "Start the upload again.",
  ),
  "upload-closed": row(
    409,
    "This upload has already ended.",
    "Open the video's page to see what became of it.",
  ),
  "upload-incomplete": row(
    409,
    "The file hasn't fully arrived in storage.",
    "Go on with the upload.",
    "retryable",
  ),
  "upload-expired": row(
    410,
    "This upload was given up after a day without a sign of life.",
    "Start it again.",
  ),
  "upload-given-up": row(410, "This upload was cancelled.", "Start it again when you like."),
  "asset-blocked": row(403, "An admin has blocked this video.", "Ask an admin."),
  "asset-deleted": row(410, "This video was deleted.", "Upload it as a new video."),

  // Jobs
  "job-ended": row(409, "This job has already ended.", "Reload the page to see what became of it."),
  "job-unfinished": row(
    409,
    "This job hasn't ended, so there is nothing to try again.",
    "Wait for it, or cancel it first.",
  ),
  "newer-file": row(
    409,
    "A newer file has taken this one's place.",
    "Try the newer one again, or upload the file once more.",
  ),
  "job-missing": row(
    404,
    "A worker was started for a job that doesn't exist.",
    "Find out what launched it: another installation with this database's address, or a message from before a restore.",
  ),

  // Admission: the file's own content decides
  "empty-file": row(422, "The file is empty.", "Check that the export finished, then upload it again."),
  "not-a-video": row(422, "This isn't a video file.", "Choose a video file."),
  "unreadable-file": row(
    422,
    "The file can't be read: it is damaged or its recording was cut off.",
    "Export or copy it again, then upload the new file.",
  ),
  "no-video-track": row(
    422,
    "The file has no picture, only sound or data.",
    "Choose a file with a video track.",
  ),
  "video-too-long": row(422, "The video is longer than the limit.", "Cut it into shorter parts."),
  "video-too-big": row(
    422,
    "The picture has more pixels than the limit.",
    "Export it at a lower resolution.",
  ),
  "size-mismatch": row(
    422,
    "What arrived in storage has another size than was announced.",
    "Upload the file again.",
  ),
  "checksum-mismatch": row(
    422,
    "What arrived in storage differs from the file that was sent.",
    "Upload the file again.",
  ),

  // Processing, permanent
  "unsupported-codec": row(
    422,
    "The picture uses a codec that can't be decoded here.",
    "Export the video as H.264, H.265, VP9 or AV1.",
  ),
  "undecodable-video": row(
    422,
    "Not a single picture of this video can be decoded.",
    "Export it again and upload the new file.",
  ),
  "encrypted-video": row(422, "The video is encrypted (DRM).", "Upload an unprotected copy."),
  "too-demanding": row(
    422,
    "This file takes far more work or memory than a video of its length and size may.",
    "Export it again and upload the new file.",
  ),
  "unsupported-hdr": row(
    422,
    "This kind of HDR can't be shown in right colours.",
    "Export it as HDR10, HLG or SDR.",
  ),
  "source-changed": row(
    409,
    "The file in storage was changed after it had been checked.",
    "Upload the file again.",
  ),
  "source-gone": row(410, "The original file is no longer in storage.", "Upload the file again."),

  // Processing, worth another try
  "disk-full": row(
    507,
    "The machine hasn't enough free disk for this video.",
    "It is tried again on another machine.",
    "retryable",
  ),
  "encoder-failed": row(500, "The encoder stopped in the middle.", "It is tried again.", "retryable"),
  "verification-failed": row(500, "The result in storage isn't complete.", "It is tried again.", "retryable"),
  "storage-unavailable": row(503, "Storage didn't answer.", "It is tried again.", "retryable"),
  "database-unavailable": row(503, "The database didn't answer.", "It is tried again.", "retryable"),
  "worker-lost": row(500, "The worker stopped answering.", "It is tried again.", "retryable"),
  "worker-failed": row(500, "The worker met a fault of its own.", "It is tried again.", "retryable"),
  "worker-leaving": row(503, "The worker had to leave.", "Another worker goes on with it.", "retryable"),
  stalled: row(500, "Processing made no progress for too long.", "It is tried again.", "retryable"),
  "worker-never-started": row(
    503,
    "No worker could be started after three launches.",
    "Try again later, or ask an admin.",
  ),
  "launch-failed": row(503, "No worker could be started.", "Try again later, or ask an admin."),

  // A worker that may not go on: not shown as failures
  "lease-lost": row(409, "Another worker has taken over.", "Nothing to do."),
  "job-cancelled": row(409, "Processing was cancelled.", "Nothing to do."),
  "job-superseded": row(409, "A newer file has taken this one's place.", "Nothing to do."),
} as const;

/** A stable code, e.g. `not-a-video`. */
export type ErrorCode = keyof typeof rows;

/** What is known of one code: `status` is HTTP's, `message` what happened, `next` what to do about it. */
export interface ErrorInfo {
  readonly status: number;
  readonly message: string;
  readonly next: string;
  readonly retryable: boolean;
}

function row(status: number, message: string, next: string, retry?: "retryable"): ErrorInfo {
  return { status, message, next, retryable: retry === "retryable" };
}

/** All codes, in the table's order. */
export const errorCodes = Object.keys(rows) as [ErrorCode, ...ErrorCode[]];

/** Whether `value` is one of our codes. */
export const isErrorCode = (value: unknown): value is ErrorCode => typeof value === "string" && value in rows;

/** The table's row for a code; an unknown one (an older release wrote it) reads as `internal`. */
export const errorInfo = (code: string): ErrorInfo => (isErrorCode(code) ? rows[code] : rows.internal);

/**
 * The one error that our own code throws. `message` is safe to show to people; `cause` is for logs alone.
 * `retryable` follows the table unless the thrower knows better.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly next: string;
  readonly retryable: boolean;
  /** Facts for the reader's program (limits, counts); never secrets. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: ErrorCode,
    options: {
      message?: string;
      retryable?: boolean;
      details?: Record<string, unknown>;
      cause?: unknown;
    } = {},
  ) {
    const info = rows[code];
    super(
      options.message ?? info.message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.status = info.status;
    this.next = info.next;
    this.retryable = options.retryable ?? info.retryable;
    this.details = options.details;
  }
}

/** `error` itself when it is ours, else a wrapper with `fallback` that keeps it as the cause. */
export function toAppError(error: unknown, fallback: ErrorCode = "internal"): AppError {
  return error instanceof AppError ? error : new AppError(fallback, { cause: error });
}
