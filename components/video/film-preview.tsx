"use client";
import { type RefObject, useMemo } from "react";
import { filmPreview } from "../player/film-source.ts";
import { Player } from "../player/player.tsx";

/** The part of a film that is ready while the rest is being made; its owner and admins alone see it. */
export function FilmPreview({
  actionKey,
  title,
  position,
}: {
  actionKey: string;
  title: string;
  position: RefObject<number>;
}) {
  const source = useMemo(() => filmPreview(actionKey), [actionKey]);
  return (
    <figure data-testid="film-preview" className="flex flex-col gap-2">
      <Player source={source} title={title} posterUrl={null} position={position} />
      <figcaption className="text-small text-ink-soft">
        A preview of what is ready, in the smallest size. Viewers see the film once it is complete.
      </figcaption>
    </figure>
  );
}
