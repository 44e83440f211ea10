"use client";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import { ChevronLeft } from "lucide-react";
import Link from "next/link";
import { publishedFilm } from "./film-source.ts";
import { Player } from "./player.tsx";
import { playerProblem } from "./player-problem.ts";
import { PlayerRefusal } from "./player-refusal.tsx";

/** Just the film, in the dark; null and unfinished films are refused calmly. */
export function Screening({ asset }: { asset: AssetSummary | null }) {
  const back = asset && asset.access !== "invited" ? `/videos/${asset.id}` : "/";
  return (
    <div data-theme="dark" className="flex min-h-dvh flex-col bg-canvas text-ink">
      <header className="flex h-14 shrink-0 items-center gap-3 px-4 sm:px-6">
        <Link
          href={back}
          aria-label={back === "/" ? "Back to the library" : "Back to the video's page"}
          className="-ml-2 grid size-9 place-items-center rounded-md text-ink-soft hover:bg-sunken hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-5" />
        </Link>
        <h1 className="truncate font-medium">{asset?.title ?? "Private video"}</h1>
      </header>
      <main className="flex min-h-0 flex-1 flex-col">
        {asset?.version && asset.state === "active" ? (
          <div className="mx-auto flex w-full max-w-[calc((100dvh-9rem)*16/9)] flex-1 flex-col gap-4 sm:px-6 sm:pb-8">
            <Player source={publishedFilm(asset.id)} title={asset.title} posterUrl={asset.posterUrl} />
            {asset.description && (
              <p className="max-w-prose px-4 pb-8 break-words whitespace-pre-line text-ink-soft sm:px-0">
                {asset.description}
              </p>
            )}
          </div>
        ) : (
          <div className="flex flex-1 flex-col pb-24">
            <PlayerRefusal problem={refusal(asset)} onAgain={() => window.location.reload()} />
          </div>
        )}
      </main>
    </div>
  );
}

function refusal(asset: AssetSummary | null) {
  if (asset?.state !== "active") return playerProblem("denied");
  return {
    kind: "missing",
    message: "This film isn't ready yet.",
    next: "It plays here once it has been processed.",
    action: "again",
  } as const;
}
