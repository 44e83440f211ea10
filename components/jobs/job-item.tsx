"use client";
import type { Actor } from "@reelkeep/core/access/policy";
import type { JobRow } from "@reelkeep/core/api/jobs";
import { formatOrdinal } from "@reelkeep/core/words/format";
import { describeMedia, describeTries, type StatusWords } from "@reelkeep/core/words/status";
import Link from "next/link";
import type { ReactNode } from "react";
import { toast } from "sonner";
import type { FocusTarget } from "../ui/dialog.tsx";
import { LocalMoment } from "../ui/local-moment.tsx";
import { ProgressBar } from "../ui/progress-bar.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { StatusLabel } from "../ui/status-line.tsx";
import { JobActs } from "./job-acts.tsx";
import { offeredActs } from "./offered-acts.ts";

/** On a phone one below the other; else the video, its state, and the button beside each other. */
const place =
  "grid min-h-28 grid-cols-1 content-start gap-x-8 gap-y-3 py-4 md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)_7.5rem]";

/** One job: whose video it is, how it is, who works on it, and what an admin can do about it. */
export function JobItem({
  row,
  actor,
  focusWhenDone,
}: {
  row: JobRow;
  actor: Actor;
  focusWhenDone: FocusTarget;
}) {
  const { media, asset, owner } = row;
  const words = describeMedia(media, { now: new Date() });
  const offered = offeredActs(actor, { ownerId: owner.id, state: asset.state, invited: false }, media);
  const tried = `“${asset.title}” is tried again. It is among the active jobs.`;
  return (
    <li className={place}>
      <div className="min-w-0">
        <p className="line-clamp-2 font-medium break-words">
          <Link href={`/videos/${asset.id}`} className="rounded-md hover:underline">
            {asset.title}
          </Link>
        </p>
        <p className="figures text-small text-ink-soft">
          {owner.name} · {row.endedAt ? "ended " : "since "}
          <LocalMoment iso={row.endedAt ?? row.admittedAt} />
          {asset.state === "blocked" && " · video blocked"}
        </p>
      </div>
      <div className="flex min-w-0 flex-col gap-2">
        <div>
          <p data-testid="job-status">
            <StatusLabel words={words} />
          </p>
          <p className="figures text-small text-ink-soft">{words.detail}</p>
        </div>
        {words.fraction !== null && (
          <ProgressBar label={`Progress of ${asset.title}`} fraction={words.fraction} />
        )}
        <JobFacts row={row} words={words} />
      </div>
      <JobActs
        media={media}
        asset={asset}
        offered={offered}
        inList
        focusWhenDone={focusWhenDone}
        onActed={(act) => toast.success(act === "cancel" ? `Cancelling “${asset.title}”` : tried)}
      />
    </li>
  );
}

/** Second to the state: what one looks for when something is wrong with it. */
function JobFacts({ row: { media, worker }, words }: { row: JobRow; words: StatusWords }) {
  return (
    <ul className="figures flex flex-wrap gap-x-4 gap-y-1 text-small text-ink-soft">
      {media.failure && (
        <li>
          <Id>{media.failure.code}</Id>
        </li>
      )}
      {media.placeInLine !== null && words.icon !== "in-line" && (
        <li>{formatOrdinal(media.placeInLine)} in line</li>
      )}
      {media.attempt && <li>{describeTries(media.attempt)}</li>}
      {worker && (
        <>
          <li>
            Worker <Id>{worker.workerId.slice(0, 8)}</Id>
          </li>
          {worker.machineId && (
            <li>
              Machine <Id>{worker.machineId}</Id>
            </li>
          )}
          <li>
            Last heard of at <LocalMoment iso={worker.lastHeartbeatAt} as="clock" />, lease until{" "}
            <LocalMoment iso={worker.leaseExpiresAt} as="clock" />
          </li>
        </>
      )}
    </ul>
  );
}

const Id = ({ children }: { children: ReactNode }) => <span className="font-mono break-all">{children}</span>;

/** The shape of a job that hasn't come yet. */
export const JobItemSkeleton = () => (
  <div className={place}>
    <div className="flex flex-col gap-2">
      <Skeleton className="h-5 w-2/3" />
      <Skeleton className="h-4 w-1/2" />
    </div>
    <div className="flex flex-col gap-2">
      <Skeleton className="h-5 w-1/3" />
      <Skeleton className="h-4 w-4/5" />
    </div>
    <Skeleton className="h-8 w-20 md:justify-self-end" />
  </div>
);
