import type { RenditionProgress } from "@reelkeep/core/api/media";
import { formatPercent } from "@reelkeep/core/words/format";
import { Check } from "lucide-react";
import { ProgressBar } from "../ui/progress-bar.tsx";

/** How far each rendition is. */
export function RenditionList({ renditions }: { renditions: readonly RenditionProgress[] }) {
  return (
    <ul aria-label="Renditions" className="flex flex-col gap-2.5">
      {renditions.map(({ name, fraction, complete }) => (
        <li key={name} className="figures grid h-5 grid-cols-[4rem_1fr_3.5rem] items-center gap-3 text-small">
          <span className="font-medium">{name}</span>
          <ProgressBar label={name} fraction={complete ? 1 : fraction} quiet={complete} />
          <span className="text-right text-ink-soft">
            {complete ? (
              <span className="inline-flex items-center gap-1 text-good">
                <Check aria-hidden className="size-4" />
                Done
              </span>
            ) : (
              formatPercent(fraction)
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
