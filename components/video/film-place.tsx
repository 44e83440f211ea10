import type { AssetSummary } from "@reelkeep/core/api/assets";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { Film } from "lucide-react";

/** Where the film will be: says when there is something to see. */
export function FilmPlace({ asset, media }: { asset: AssetSummary; media: MediaStatus | undefined }) {
  return (
    <div className="grid aspect-video place-items-center rounded-md border border-line bg-sunken p-6 text-center text-ink-soft">
      <div className="flex flex-col items-center gap-3">
        <Film aria-hidden className="size-5" />
        <p className="text-balance">{sentence(asset, media)}</p>
      </div>
    </div>
  );
}

function sentence(asset: AssetSummary, media: MediaStatus | undefined): string {
  if (asset.state === "blocked") return "An admin has blocked this video. Ask an admin.";
  switch (media?.status) {
    case "url-created":
    case "file-uploaded":
    case "file-processing-ready":
    case "job-received":
      return "The film plays here once it is ready. You may close this page meanwhile.";
    case "processing-completed":
      return "Opening the film.";
    default:
      return "There is no film here yet.";
  }
}
