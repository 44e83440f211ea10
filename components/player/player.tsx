"use client";
import { LoaderCircle } from "lucide-react";
import { MediaController, MediaLoadingIndicator } from "media-chrome/react";
import { classNames } from "../ui/class-names.ts";
import { PlayerControls } from "./player-controls.tsx";
import { PlayerRefusal } from "./player-refusal.tsx";
import { useFilm } from "./use-film.ts";
import "./player.css";

/** One film with its controls. It keeps 16:9 and shows the whole picture, whatever its shape. */
export function Player({
  assetId,
  title,
  posterUrl,
  fill = false,
}: {
  assetId: string;
  title: string;
  posterUrl: string | null;
  /** Takes all the room there is instead of 16:9. */
  fill?: boolean;
}) {
  const { state, attach, again } = useFilm(assetId);
  return (
    <section
      aria-label={`Player: ${title}`}
      data-theme="dark"
      data-testid="player"
      className={classNames(
        "relative w-full overflow-hidden bg-black text-ink",
        fill ? "h-full" : "aspect-video rounded-md",
      )}
    >
      {state.phase === "granted" ? (
        <MediaController className="reelkeep-player">
          {/* biome-ignore lint/a11y/useMediaCaption: caption tracks come with the stream. */}
          <video
            slot="media"
            ref={attach}
            aria-label={title}
            crossOrigin="use-credentials"
            playsInline
            preload="metadata"
            poster={state.grant.posterUrl ?? posterUrl ?? undefined}
          />
          <MediaLoadingIndicator slot="centered-chrome" noAutohide />
          <PlayerControls />
        </MediaController>
      ) : state.phase === "asking" ? (
        <div className="grid size-full place-items-center text-ink-soft">
          <LoaderCircle aria-hidden className="size-5 animate-breathe" />
          <span className="sr-only">Opening the film</span>
        </div>
      ) : (
        <PlayerRefusal problem={state.problem} onAgain={again} />
      )}
    </section>
  );
}
