import type { AssetSummary } from "@reelkeep/core/api/assets";
import { formatDuration } from "@reelkeep/core/words/format";
import { describeAsset } from "@reelkeep/core/words/status";
import Link from "next/link";
import { LocalMoment } from "../ui/local-moment.tsx";
import { ProgressBar } from "../ui/progress-bar.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { StatusLabel } from "../ui/status-line.tsx";
import { Poster } from "./poster.tsx";

/** One video in the library: its poster, its name, and its state wherever it isn't simply ready. */
export function AssetCard({ asset }: { asset: AssetSummary }) {
  const words = describeAsset(asset);
  const mayOpen = asset.access !== "invited";
  return (
    <article aria-labelledby={`title-${asset.id}`} className="group relative flex flex-col gap-2">
      <div className="relative aspect-video overflow-hidden rounded-md border border-line bg-sunken">
        <Poster url={asset.posterUrl} />
        {asset.version && (
          <span className="figures absolute right-2 bottom-2 rounded-md bg-black px-1.5 text-small text-[#fff]">
            <span className="sr-only">Length </span>
            {formatDuration(asset.version.durationSeconds)}
          </span>
        )}
        {words?.fraction != null && (
          <ProgressBar
            label={`Progress of ${asset.title}`}
            fraction={words.fraction}
            className="absolute inset-x-0 bottom-0 rounded-none"
          />
        )}
      </div>
      <div>
        <h2 id={`title-${asset.id}`} className="truncate font-medium">
          <Link
            href={mayOpen ? `/videos/${asset.id}` : `/watch/${asset.id}`}
            className="rounded-md after:absolute after:inset-0 after:rounded-md group-hover:underline"
          >
            {asset.title}
          </Link>
        </h2>
        <p className="figures flex h-5 items-center text-small text-ink-soft">
          {words ? (
            <StatusLabel words={words} className="truncate" />
          ) : (
            <span className="truncate">
              {asset.access === "owner" ? "" : `${asset.owner.name} · `}
              <LocalMoment iso={asset.createdAt} />
            </span>
          )}
        </p>
        {words?.tone === "bad" && <p className="line-clamp-2 text-small text-ink-soft">{words.detail}</p>}
      </div>
    </article>
  );
}

/** The shape of a card that hasn't come yet. */
export const AssetCardSkeleton = () => (
  <div className="flex flex-col gap-2">
    <Skeleton className="aspect-video" />
    <Skeleton className="h-5 w-2/3" />
    <Skeleton className="h-4 w-1/3" />
  </div>
);
