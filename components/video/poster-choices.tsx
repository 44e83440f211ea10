"use client";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { choosePoster } from "../api-client.ts";
import { assetsKey } from "../library/use-assets.ts";
import { classNames } from "../ui/class-names.ts";
import { ProblemNote } from "../ui/problem-note.tsx";

/** Pictures of the film of which one stands for it; shown to whoever may choose, where there is a choice. */
export function PosterChoices({ asset }: { asset: AssetSummary }) {
  const queryClient = useQueryClient();
  const choice = useMutation({
    mutationFn: (name: string) => choosePoster(asset.id, { versionId: asset.version!.id, name }),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ["asset", asset.id] }),
        queryClient.invalidateQueries({ queryKey: assetsKey }),
      ]),
  });
  if (!asset.version || asset.posters.length < 2) return null;
  const wanted = choice.isPending ? choice.variables : null;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 font-medium">Poster</legend>
      <div className="grid grid-cols-3 gap-2">
        {asset.posters.map(({ name, url, isShown }, i) => (
          <label
            key={name}
            className={classNames(
              "cursor-pointer overflow-hidden rounded-md border-2 has-focus-visible:outline-2 has-focus-visible:outline-offset-2",
              (wanted ? wanted === name : isShown) ? "border-accent" : "border-transparent",
            )}
          >
            <input
              type="radio"
              name="poster"
              className="sr-only"
              aria-label={`Picture ${i + 1} of ${asset.posters.length}`}
              checked={wanted ? wanted === name : isShown}
              onChange={() => choice.mutate(name)}
            />
            {/* biome-ignore lint/performance/noImgElement: a signed, short-lived address of the media host. */}
            <img src={url} alt="" className="aspect-video w-full bg-sunken object-cover" />
          </label>
        ))}
      </div>
      {choice.error && <ProblemNote error={choice.error} />}
    </fieldset>
  );
}
