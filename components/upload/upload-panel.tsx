"use client";
import { formatPercent } from "@reelkeep/core/words/format";
import { busyPhases } from "@reelkeep/core/words/sending";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { usePathname } from "next/navigation";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { ProgressBar } from "../ui/progress-bar.tsx";
import { UploadAnnouncer } from "./upload-announcer.tsx";
import { useUploads } from "./upload-context.ts";
import type { UploadQueue } from "./upload-queue.ts";
import { UploadRow } from "./upload-row.tsx";
import type { UploadItem } from "./upload-store.ts";

/** All uploads of this tab, in the corner; folds to one line. */
export function UploadPanel({ queue }: { queue: UploadQueue }) {
  const pathname = usePathname();
  // A video's own page tells what became of its file; the panel would only stand in the way there.
  const items = useUploads(queue).filter(
    ({ phase, assetId }) => phase !== "admitted" || pathname !== `/videos/${assetId}`,
  );
  const [folded, setFolded] = useState(false);
  if (items.length === 0) return null;
  const { title, fraction } = summary(items);
  const finished = items.every((item) => !isUnfinished(item));

  return (
    <aside
      aria-label="Uploads"
      className="fixed inset-x-0 bottom-0 z-30 flex max-h-[70dvh] flex-col border-t border-line bg-surface sm:inset-x-auto sm:right-6 sm:bottom-6 sm:w-[26rem] sm:rounded-md sm:border"
    >
      <UploadAnnouncer items={items} />
      <div className="flex h-12 shrink-0 items-center gap-2 pr-2 pl-4">
        <h2 className="figures flex-1 truncate font-semibold">{title}</h2>
        <Button
          look="quiet"
          size="small-icon"
          aria-expanded={!folded}
          aria-label={folded ? "Show the uploads" : "Fold the uploads"}
          onClick={() => setFolded(!folded)}
        >
          {folded ? <ChevronUp aria-hidden /> : <ChevronDown aria-hidden />}
        </Button>
        {finished && (
          <Button
            look="quiet"
            size="small-icon"
            aria-label="Close the list of uploads"
            onClick={() => {
              for (const { actionKey } of items) queue.dismiss(actionKey);
            }}
          >
            <X aria-hidden />
          </Button>
        )}
      </div>
      {folded ? (
        <ProgressBar label="All uploads" fraction={fraction} className="rounded-none" />
      ) : (
        <ul className="min-h-0 divide-y divide-line overflow-y-auto border-t border-line">
          {items.map((item) => (
            <UploadRow key={item.actionKey} item={item} queue={queue} />
          ))}
        </ul>
      )}
    </aside>
  );
}

const isUnfinished = ({ phase }: UploadItem): boolean =>
  phase === "paused" ||
  phase === "file-needed" ||
  phase === "stopped" ||
  busyPhases.some((busy) => busy === phase);

function summary(items: readonly UploadItem[]): { title: string; fraction: number } {
  const total = items.reduce((sum, item) => sum + item.sizeBytes, 0);
  const sent = items.reduce((sum, item) => sum + item.sentBytes, 0);
  const fraction = total > 0 ? sent / total : 0;
  const busy = items.filter(({ phase }) => busyPhases.some((name) => name === phase)).length;
  if (busy > 0) return { title: `Uploading ${files(busy)} · ${formatPercent(fraction)}`, fraction };
  const paused = items.filter(({ phase }) => phase === "paused").length;
  if (paused > 0) return { title: `Paused · ${formatPercent(fraction)}`, fraction };
  const waiting = items.filter(isUnfinished).length;
  return {
    title: waiting > 0 ? `${files(waiting)} ${waiting === 1 ? "needs" : "need"} you` : "Uploads",
    fraction,
  };
}

const files = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
