"use client";
import { LoaderCircle } from "lucide-react";
import { MediaController, MediaLoadingIndicator } from "media-chrome/react";
import type { RefObject } from "react";
import { classNames } from "../ui/class-names.ts";
import type { FilmSource } from "./film-source.ts";
import { PlayerControls } from "./player-controls.tsx";
import { PlayerRefusal } from "./player-refusal.tsx";
import { useFilm } from "./use-film.ts";
import "./player.css";

/**
 * One film with its controls. It keeps 16:9 and shows the whole picture, whatever its shape. `position` holds where
 * the viewer is, for a player that takes over.
 */
export function Player({
  source,
  title,
  posterUrl,
  position,
  fill = false,
}: {
  source: FilmSource;
  title: string;
  posterUrl: string | null;
  position?: RefObject<number>;
  /** Takes all the room there is instead of 16:9. */
  fill?: boolean;
}) {
  const { state, attach, again } = useFilm(source, () => position?.current ?? 0);
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
            // The page hears of another choice; the grant is as old as the film.
            poster={posterUrl ?? state.grant.posterUrl ?? undefined}
            onTimeUpdate={({ currentTarget }) => {
              if (position) position.current = currentTarget.currentTime;
            }}
          >
            {state.grant.storyboardUrl && (
              // The controls look for this label.
              <track kind="metadata" label="thumbnails" src={state.grant.storyboardUrl} default />
            )}
          </video>
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
