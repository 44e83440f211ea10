"use client";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { describeMedia, isSettled } from "@reelkeep/core/words/status";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { JobActs } from "../jobs/job-acts.tsx";
import type { OfferedActs } from "../jobs/offered-acts.ts";
import { ProgressBar } from "../ui/progress-bar.tsx";
import { StatusLabel } from "../ui/status-line.tsx";
import { RenditionList } from "./rendition-list.tsx";

/**
 * What is going on with a video's newest file, in plain words and, while it is worked on, in figures; and what can be
 * done about it. `children` are further ways on, shown below.
 */
export function MediaState({
  media,
  asset,
  offered,
  children,
}: {
  media: MediaStatus;
  asset: AssetSummary;
  offered: OfferedActs;
  children?: ReactNode;
}) {
  const section = useRef<HTMLElement>(null);
  const words = describeMedia(media, { now: useNow(media.waitingReason === "retry-backoff") });
  const stillPlays = asset.version && asset.state === "active" && isSettled(media.status);
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-labelledby="media-state"
      className="flex flex-col gap-4 rounded-md border border-line bg-surface p-5"
    >
      <h2 id="media-state" className="sr-only">
        State
      </h2>
      <div>
        {/* The figure changes often: it is read aloud only when its words change. */}
        <p data-testid="media-status">
          <StatusLabel words={words} className="text-lead" />
        </p>
        <p aria-live="polite" className="mt-1 text-ink-soft">
          {words.detail}
          {stillPlays && ` Version ${asset.version?.versionNumber} still plays.`}
        </p>
        {media.failure && words.tone === "bad" && (
          <p className="mt-2 font-mono text-small text-ink-soft">{media.failure.code}</p>
        )}
      </div>
      {words.fraction !== null && <ProgressBar label="Processing" fraction={words.fraction} />}
      {media.status === "job-received" && !media.cancelRequested && media.progress.renditions.length > 0 && (
        <RenditionList renditions={media.progress.renditions} />
      )}
      <JobActs media={media} asset={asset} offered={offered} focusWhenDone={section} />
      {children}
    </section>
  );
}

/** The time, told again every second while something counts down. */
function useNow(counting: boolean): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    if (!counting) return;
    const timer = window.setInterval(() => setNow(new Date()), 1_000);
    return () => window.clearInterval(timer);
  }, [counting]);
  return counting ? now : new Date();
}
