"use client";
import { mayDoWith } from "@reelkeep/core/access/policy";
import type { Account } from "@reelkeep/core/api/accounts";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import { isSettled } from "@reelkeep/core/words/status";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronLeft, Trash2 } from "lucide-react";
import Link from "next/link";
import { useEffect, useRef, useState } from "react";
import { getAsset, ProblemError } from "../api-client.ts";
import { offeredActs } from "../jobs/offered-acts.ts";
import { assetsKey } from "../library/use-assets.ts";
import { publishedFilm } from "../player/film-source.ts";
import { Player } from "../player/player.tsx";
import { SharingDialog } from "../sharing/sharing-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { DeleteVideo } from "./delete-video.tsx";
import { FilmPlace } from "./film-place.tsx";
import { FilmPreview } from "./film-preview.tsx";
import { MediaState } from "./media-state.tsx";
import { PosterChoices } from "./poster-choices.tsx";
import { useMediaStatus } from "./use-media-status.ts";
import { VideoFacts } from "./video-facts.tsx";
import { VideoMenu } from "./video-menu.tsx";

/** One video: its film, its state, and what its owner can do with it. */
export function VideoPage({ initialAsset, account }: { initialAsset: AssetSummary; account: Account }) {
  const { data: asset, error } = useQuery({
    queryKey: ["asset", initialAsset.id],
    queryFn: ({ signal }) => getAsset(initialAsset.id, signal),
    initialData: initialAsset,
  });
  const media = useMediaStatus(asset.latest?.actionKey ?? null).data;
  useRefreshWhenSettled(asset.id, media?.status);

  const actor = { userId: account.id, role: account.role };
  const facts = { ownerId: asset.owner.id, state: asset.state, invited: asset.access === "invited" };
  const may = {
    edit: mayDoWith(actor, "edit", facts),
    block: mayDoWith(actor, "block", facts),
    delete: mayDoWith(actor, "delete", facts),
  };
  /** The published film goes on where its preview was. */
  const position = useRef(0);
  const [deleting, setDeleting] = useState(false);
  const showsState = media && !(media.status === "processing-completed" && asset.version);

  if (error instanceof ProblemError && error.code === "not-found")
    return (
      <ProblemNote error={error}>
        <Button asChild>
          <Link href="/">Go to the library</Link>
        </Button>
      </ProblemNote>
    );
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <Link
            href="/"
            className="-ml-1 inline-flex items-center gap-1 rounded-md pr-1 text-small text-ink-soft hover:text-ink"
          >
            <ChevronLeft aria-hidden className="size-4" /> Library
          </Link>
          <h1 className="text-title font-semibold tracking-tight break-words">{asset.title}</h1>
        </div>
        <div className="flex items-center gap-2">
          {mayDoWith(actor, "manage-viewers", facts) && (
            <SharingDialog
              assetId={asset.id}
              title={asset.title}
              mayInvite={mayDoWith(actor, "invite-viewer", facts)}
            />
          )}
          <VideoMenu asset={asset} media={media} may={may} />
        </div>
      </div>
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        {asset.version && asset.state === "active" ? (
          <Player
            // A newly published version is another film.
            key={asset.version.id}
            source={publishedFilm(asset.id)}
            position={position}
            title={asset.title}
            posterUrl={asset.posterUrl}
          />
        ) : media?.preview && !asset.version ? (
          <FilmPreview
            // Another attempt makes another film.
            key={`${media.actionKey} ${media.attempt?.number}`}
            actionKey={media.actionKey}
            title={asset.title}
            position={position}
          />
        ) : (
          <FilmPlace asset={asset} media={media} mayAllow={may.block} />
        )}
        <div className="flex flex-col gap-6">
          {showsState && (
            <MediaState media={media} asset={asset} offered={offeredActs(actor, facts, media)}>
              {media.status === "rejected" && may.delete && (
                <Button look="harm" className="self-start" onClick={() => setDeleting(true)}>
                  <Trash2 aria-hidden /> Delete video…
                </Button>
              )}
            </MediaState>
          )}
          <PosterChoices asset={asset} />
          <VideoFacts asset={asset} media={media} />
        </div>
      </div>
      {asset.description && (
        <p className="max-w-prose whitespace-pre-line break-words">{asset.description}</p>
      )}
      <DeleteVideo asset={asset} media={media} open={deleting} onOpenChange={setDeleting} />
    </div>
  );
}

/** What was published or failed shows in the summary too: ask for it once the job is done. */
function useRefreshWhenSettled(assetId: string, status: Parameters<typeof isSettled>[0] | undefined) {
  const queryClient = useQueryClient();
  const before = useRef(status);
  useEffect(() => {
    const moved = before.current !== undefined && before.current !== status;
    before.current = status;
    if (!moved || status === undefined || !isSettled(status)) return;
    void queryClient.invalidateQueries({ queryKey: ["asset", assetId] });
    void queryClient.invalidateQueries({ queryKey: assetsKey });
  }, [assetId, status, queryClient]);
}
