import type { AssetSummary } from "@reelkeep/core/api/assets";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { Film } from "lucide-react";

/** Where the film will be: says when there is something to see. */
export function FilmPlace({
  asset,
  media,
  mayAllow,
}: {
  asset: AssetSummary;
  media: MediaStatus | undefined;
  /** Whether this person can end a block. */
  mayAllow: boolean;
}) {
  return (
    <div className="grid aspect-video place-items-center rounded-md border border-line bg-sunken p-6 text-center text-ink-soft">
      <div className="flex flex-col items-center gap-3">
        <Film aria-hidden className="size-5" />
        <p className="text-balance">{asset.state === "blocked" ? blockedWords(mayAllow) : sentence(media)}</p>
      </div>
    </div>
  );
}

const blockedWords = (mayAllow: boolean): string =>
  mayAllow
    ? "This video is blocked: nobody can watch it. You can allow it again in its menu, above."
    : "An admin has blocked this video. Ask an admin.";

function sentence(media: MediaStatus | undefined): string {
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
