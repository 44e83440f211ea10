/** What people read before an act that others feel, or that can't be undone. */
import type { AssetSummary } from "../api/assets.ts";
import type { MediaStatus } from "../api/media.ts";
import { attemptsPerGeneration } from "../job/policy.ts";
import { formatPercent } from "./format.ts";
import { isSettled } from "./status.ts";

/** An act, asked about once more: to what it happens, what follows, and buttons that say what they do. */
export interface ActWords {
  readonly question: string;
  /** What will be the case afterwards, one sentence each. */
  readonly consequences: readonly [string, ...string[]];
  /** The button that does it, and the one that leaves everything as it is. */
  readonly act: string;
  readonly keep: string;
  /** What the first button says while the server is asked. */
  readonly acting: string;
  /** Said afterwards, when it has been done. */
  readonly done: string;
}

type Named = Pick<AssetSummary, "title" | "version">;
type Latest = Pick<MediaStatus, "status"> | undefined;

const isUnfinished = (media: Latest): boolean => media !== undefined && !isSettled(media.status);

const whoeverWatches = "Whoever is watching now may go on until their viewing session ends.";

/** What a retry gives, beside its button. */
export const retryWords = `${attemptsPerGeneration} more tries, from the original file.`;

/** Asked only while a worker is on it: before that, nothing is lost. */
export const describeCancelling = (
  { title }: Pick<AssetSummary, "title">,
  { progress }: Pick<MediaStatus, "progress">,
): ActWords => ({
  question: `Cancel processing “${title}”?`,
  consequences: [
    progress.fraction > 0
      ? `What is done so far (${formatPercent(progress.fraction)}) is lost.`
      : "The work that has begun is lost.",
    "The original file stays, so an admin can try it again.",
  ],
  act: "Cancel processing",
  keep: "Go on processing",
  acting: "Cancelling…",
  done: `Cancelling “${title}”`,
});

/** Says all that deletion takes away, and no more than is there. */
export function describeDeletion({ title, version }: Named, media: Latest): ActWords {
  const refused = version === null && media?.status === "rejected";
  return {
    question: `Delete “${title}”?`,
    consequences: [
      "Its address stops working for everyone at once.",
      ...(version ? [whoeverWatches] : []),
      ...(isUnfinished(media) ? ["What is still going on with its file is cancelled."] : []),
      "All its files are removed from storage within about a day.",
      "This can't be undone.",
    ],
    act: refused
      ? "Delete this refused upload"
      : version
        ? "Delete the video and all its versions"
        : "Delete the video",
    keep: "Keep it",
    acting: "Deleting…",
    done: `“${title}” was deleted`,
  };
}

/** An admin takes a video out of everybody's sight. */
export const describeBlocking = ({ title, version }: Named, media: Latest): ActWords => ({
  question: `Block “${title}”?`,
  consequences: [
    "Nobody can open the film any more: not its owner, not the people invited, not you.",
    ...(version ? [whoeverWatches] : []),
    ...(isUnfinished(media)
      ? ["Its file is no longer processed; once the video is allowed again, you can try that again."]
      : []),
    "Nothing is deleted, and an admin can allow it again.",
  ],
  act: "Block the video",
  keep: "Leave it as it is",
  acting: "Blocking…",
  done: `“${title}” is blocked`,
});

/** The way back from it. */
export const describeAllowing = ({ title }: Named): ActWords => ({
  question: `Allow “${title}” again?`,
  consequences: ["Its owner, admins and the people invited can watch it again, at the same address."],
  act: "Allow it again",
  keep: "Leave it blocked",
  acting: "Allowing…",
  done: `“${title}” is allowed again`,
});
