/** What people read about an upload, its job and its failure. Pure: the same facts always give the same words. */
import type { AssetSummary } from "../api/assets.ts";
import type { MediaStatus, MediaStatusName } from "../api/media.ts";
import { errorInfo } from "../errors.ts";
import type { WaitingReason } from "../job/machine.ts";
import { formatMoment, formatOrdinal, formatPercent, formatWait, type Reader } from "./format.ts";

/** How a state is coloured; an icon and the words always stand beside the colour. */
export type Tone = "quiet" | "active" | "good" | "bad";

/** What the icon beside the words shows. */
export type StatusIcon =
  | "sending"
  | "waiting-for-network"
  | "paused"
  | "checking"
  | "in-line"
  | "starting"
  | "trying-again"
  | "processing"
  | "ready"
  | "failed"
  | "stopped";

/** One state as it is shown: `label` stands alone on a poster, `detail` says why and what next. */
export interface StatusWords {
  readonly label: string;
  readonly detail: string;
  readonly tone: Tone;
  readonly icon: StatusIcon;
  /** 0 to 1 where there is something to measure. */
  readonly fraction: number | null;
}

const words = (
  tone: Tone,
  icon: StatusIcon,
  label: string,
  detail: string,
  fraction: number | null = null,
): StatusWords => ({ label, detail, tone, icon, fraction });

/** Nothing changes any more by itself in these states. */
const settledStatuses = [
  "processing-completed",
  "failed",
  "cancelled",
  "rejected",
  "expired",
] as const satisfies MediaStatusName[];

/** Whether polling may end. */
export const isSettled = (status: MediaStatusName): boolean =>
  (settledStatuses as readonly MediaStatusName[]).includes(status);

/** The state of one upload or job, as its owner reads it. */
export function describeMedia(media: MediaStatus, reader: Reader): StatusWords {
  switch (media.status) {
    case "url-created":
      return words("quiet", "sending", "Uploading", "The file hasn't fully arrived yet.");
    case "file-uploaded":
      return words("active", "checking", "Checking", "Upload complete. Checking the file.");
    case "rejected":
      return words("bad", "failed", "Not accepted", rejection(media));
    case "expired":
      return words(
        "quiet",
        "stopped",
        "Upload ended",
        "This upload was given up before the file arrived. Start it again.",
      );
    case "file-processing-ready":
      return describeWaiting(media, reader);
    case "job-received":
      if (media.cancelRequested) return words("active", "processing", "Cancelling…", cancelling(media));
      return words(
        "active",
        "processing",
        `Processing ${formatPercent(media.progress.fraction)}`,
        processing(media),
        media.progress.fraction,
      );
    case "processing-completed":
      return words("good", "ready", "Ready", published(media, reader));
    case "failed":
      return words("bad", "failed", "Couldn't process this video", processingFailure(media));
    case "cancelled":
      return words("quiet", "stopped", "Cancelled", cancellation(media, reader));
  }
}

function describeWaiting(media: MediaStatus, reader: Reader): StatusWords {
  const reason: WaitingReason = media.waitingReason ?? "queued";
  const line = media.placeInLine === null ? "In line" : `In line: ${formatOrdinal(media.placeInLine)}`;
  switch (reason) {
    case "queued":
    case "waiting-for-slot":
      return words("active", "in-line", line, "Starts when a worker is free.");
    case "waiting-for-budget":
      return words(
        "quiet",
        "in-line",
        line,
        "Today's budget for workers is used up. It goes on by itself after midnight UTC.",
      );
    case "launching":
      return words(
        "active",
        "starting",
        "Starting",
        "Starting a worker for it. A new machine takes about two minutes.",
      );
    case "waiting-for-capacity":
      return words(
        "active",
        "starting",
        "Waiting for a machine",
        "No machine of this kind is free at the moment. Trying others.",
      );
    case "retry-backoff":
      return words("active", "trying-again", "Trying again", backoff(media, reader));
  }
}

function backoff(media: MediaStatus, reader: Reader): string {
  const secondsLeft =
    media.retryAt === null ? 0 : (new Date(media.retryAt).getTime() - reader.now.getTime()) / 1000;
  const when = secondsLeft > 0 ? `in ${formatWait(secondsLeft)}` : "now";
  const which = media.attempt ? `: ${media.attempt.number + 1} of ${media.attempt.limit}` : "";
  const why = media.failure ? ` ${media.failure.message}` : "";
  return `The last try stopped.${why} Trying again ${when}${which}.`;
}

function processing(media: MediaStatus): string {
  const { secondsLeft } = media.progress;
  const left =
    secondsLeft === null ? "Working out how long it takes" : `About ${formatWait(secondsLeft)} left`;
  const again =
    media.attempt && media.attempt.number > 1
      ? ` · try ${media.attempt.number} of ${media.attempt.limit}`
      : "";
  return `${left}${again}`;
}

function published(media: MediaStatus, reader: Reader): string {
  const at = formatMoment(media.updatedAt, reader);
  return media.playback ? `Version ${media.playback.versionNumber}, published ${at}.` : `Published ${at}.`;
}

const rejection = ({ failure }: MediaStatus): string =>
  failure
    ? `${failure.message} Nothing was processed. ${failure.next}`
    : "The file wasn't accepted. Nothing was processed.";

/** Tried again by themselves while attempts were left; and codes that a launch, not the file, is the cause of. */
const worthAnotherTry = (code: string): boolean =>
  errorInfo(code).retryable || code === "launch-failed" || code === "worker-never-started";

/** What may succeed at another time is an admin's to try again; else the table says what the file needs. */
function processingFailure({ failure, attempt }: MediaStatus): string {
  const tries = attempt && attempt.number > 1 ? ` Tried ${attempt.number} times.` : "";
  if (!failure) return `Processing ended without a result.${tries} ${anotherTry}`;
  return `${failure.message}${tries} ${worthAnotherTry(failure.code) ? anotherTry : failure.next}`;
}

const anotherTry = "An admin can try it again, or upload a new file.";

function cancelling({ cancelledBy }: MediaStatus): string {
  const by = cancelledBy?.kind === "you" ? " by you" : cancelledBy?.name ? ` by ${cancelledBy.name}` : "";
  return `Asked for${by}. Its worker stops at its next sign of life, usually within half a minute.`;
}

function cancellation(media: MediaStatus, reader: Reader): string {
  const at = formatMoment(media.updatedAt, reader);
  switch (media.cancelledBy?.kind) {
    case "newer-file":
      return "A newer file has taken this one's place.";
    case "block":
      return "An admin has blocked the video. Once it is allowed again, an admin can try this again.";
    case "deletion":
      return "The video was deleted.";
    case "you":
      return `Cancelled by you at ${at}.`;
    default:
      return media.cancelledBy?.name
        ? `Cancelled by ${media.cancelledBy.name} at ${at}.`
        : `Cancelled at ${at}.`;
  }
}

/** Which try runs or ran last, of how many: `Try 2 of 3`. */
export const describeTries = ({ number, limit }: NonNullable<MediaStatus["attempt"]>): string =>
  number === 0 ? "Not tried yet" : `Try ${number} of ${limit}`;

/** The state of a whole video from its summary alone, for a poster. Null when it is simply ready to watch. */
export function describeAsset(asset: AssetSummary): StatusWords | null {
  if (asset.state === "blocked")
    return words("bad", "stopped", "Blocked", "An admin has blocked this video. Ask an admin.");
  const { latest, version } = asset;
  const whileItPlays = version ? " The published version still plays." : "";
  switch (latest?.status) {
    case undefined:
    case "processing-completed":
      return version ? null : words("quiet", "stopped", "No film yet", "Nothing was published yet.");
    case "url-created":
      return words("quiet", "sending", "Uploading", `The file hasn't fully arrived yet.${whileItPlays}`);
    case "file-uploaded":
      return words("active", "checking", "Checking", `Upload complete. Checking the file.${whileItPlays}`);
    case "file-processing-ready":
      return words("active", "in-line", "In line", `Waits for a worker.${whileItPlays}`);
    case "job-received":
      return words(
        "active",
        "processing",
        `Processing ${formatPercent(latest?.fraction ?? 0)}`,
        `Being processed.${whileItPlays}`,
        latest?.fraction ?? 0,
      );
    case "rejected":
    case "failed": {
      const label = latest?.status === "failed" ? "Couldn't process" : "Not accepted";
      const why = latest?.failure?.message ?? "It ended without a result.";
      return words("bad", "failed", label, `${why}${whileItPlays}`);
    }
    case "expired":
      return words("quiet", "stopped", "Upload ended", `The file never fully arrived.${whileItPlays}`);
    case "cancelled":
      return words("quiet", "stopped", "Cancelled", `Processing was cancelled.${whileItPlays}`);
  }
}
