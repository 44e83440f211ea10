"use client";
import { describeSending } from "@reelkeep/core/words/sending";
import { describeMedia, type StatusWords } from "@reelkeep/core/words/status";
import { useQueryClient } from "@tanstack/react-query";
import { ChevronDown, Pause, Play, RotateCw, X } from "lucide-react";
import Link from "next/link";
import { useEffect, useRef, useState } from "react";
import { assetsKey } from "../library/use-assets.ts";
import { Button } from "../ui/button.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { ProgressBar } from "../ui/progress-bar.tsx";
import { StatusLabel } from "../ui/status-line.tsx";
import { useMediaStatus } from "../video/use-media-status.ts";
import { FileInput } from "./file-input.tsx";
import { useAddFiles } from "./upload-context.ts";
import type { UploadQueue } from "./upload-queue.ts";
import type { UploadItem } from "./upload-store.ts";

/** One file: what it is called, how far it is, and what can be done about it. */
export function UploadRow({ item, queue }: { item: UploadItem; queue: UploadQueue }) {
  const words = useWords(item);
  const [open, setOpen] = useState(false);
  useRefreshLibrary(item);

  return (
    <li className="flex flex-col gap-2 px-4 py-3" data-testid="upload">
      <div className="flex items-center gap-1">
        <p className="min-w-0 flex-1 truncate font-medium">
          {item.assetId && item.phase === "admitted" ? (
            <Link href={`/videos/${item.assetId}`} className="rounded-md hover:underline">
              {item.title}
            </Link>
          ) : (
            item.title || item.filename
          )}
        </p>
        <RowButtons item={item} queue={queue} />
        <Button
          look="quiet"
          size="small-icon"
          aria-expanded={open}
          aria-label={`Title and description of ${item.filename}`}
          onClick={() => setOpen(!open)}
        >
          <ChevronDown aria-hidden className={open ? "rotate-180" : ""} />
        </Button>
      </div>
      <ProgressBar
        label={`Upload of ${item.filename}`}
        fraction={words.fraction ?? 0}
        quiet={words.tone !== "active"}
      />
      {/* Room for two lines, so that the rows below don't jump when words change. */}
      <div className="min-h-10 text-small">
        <p data-testid="upload-status">
          <StatusLabel words={words} />
        </p>
        <p className="figures text-ink-soft">
          {words.detail}{" "}
          {item.problem && words.tone === "bad" && <span className="font-mono">{item.problem.code}</span>}
        </p>
      </div>
      <RowChoices item={item} queue={queue} />
      {open && (
        <div className="flex flex-col gap-3 pb-1">
          <TextField
            label="Title"
            value={item.title}
            maxLength={200}
            onChange={(event) => queue.describe(item.actionKey, { title: event.currentTarget.value })}
          />
          <TextArea
            label="Description"
            value={item.description}
            maxLength={5000}
            rows={3}
            onChange={(event) => queue.describe(item.actionKey, { description: event.currentTarget.value })}
          />
          <p className="text-small text-ink-soft">
            {item.detailsSaved ? "Saved" : "Kept here; saved as soon as the server knows the video."}
          </p>
        </div>
      )}
    </li>
  );
}

/** While the browser sends, its own words; after that the server's. */
function useWords(item: UploadItem): StatusWords {
  const media = useMediaStatus(item.phase === "admitted" ? item.actionKey : null).data;
  return item.phase === "admitted" && media && media.status !== "url-created"
    ? describeMedia(media, { now: new Date() })
    : describeSending(item);
}

/** A new video, or a new state of one, belongs in the library at once. */
function useRefreshLibrary({ assetId, phase }: UploadItem) {
  const queryClient = useQueryClient();
  const settled = phase === "admitted" || phase === "refused";
  // biome-ignore lint/correctness/useExhaustiveDependencies: each of these changes is a reason of its own.
  useEffect(() => {
    if (!assetId) return;
    void queryClient.invalidateQueries({ queryKey: assetsKey });
    void queryClient.invalidateQueries({ queryKey: ["asset", assetId] });
  }, [assetId, settled, queryClient]);
}

function RowButtons({ item, queue }: { item: UploadItem; queue: UploadQueue }) {
  const { actionKey, filename, phase } = item;
  const finished = phase === "admitted" || phase === "refused";
  return (
    <>
      {(phase === "sending" || phase === "disconnected") && (
        <Button
          look="quiet"
          size="small-icon"
          aria-label={`Pause ${filename}`}
          onClick={() => queue.pause(actionKey)}
        >
          <Pause aria-hidden />
        </Button>
      )}
      {phase === "paused" && (
        <Button
          look="quiet"
          size="small-icon"
          aria-label={`Resume ${filename}`}
          onClick={() => queue.resume(actionKey)}
        >
          <Play aria-hidden />
        </Button>
      )}
      {phase === "stopped" && (
        <Button
          look="quiet"
          size="small-icon"
          aria-label={`Retry ${filename}`}
          onClick={() => queue.retry(actionKey)}
        >
          <RotateCw aria-hidden />
        </Button>
      )}
      {phase !== "confirming" && (
        <Button
          look="quiet"
          size="small-icon"
          aria-label={finished ? `Remove ${filename} from the list` : `Cancel the upload of ${filename}`}
          onClick={() => (finished ? queue.dismiss(actionKey) : queue.cancel(actionKey))}
        >
          <X aria-hidden />
        </Button>
      )}
    </>
  );
}

/** Where another file is the way on. */
function RowChoices({ item, queue }: { item: UploadItem; queue: UploadQueue }) {
  const input = useRef<HTMLInputElement>(null);
  const addFiles = useAddFiles();
  if (item.phase !== "refused" && item.phase !== "file-needed") return null;
  const again = item.phase === "file-needed";
  const label = again ? `Choose ${item.filename} again` : "Choose another file";

  function choose([file]: File[]) {
    if (!file) return;
    // The title and description stay; a refused upload of a known video is replaced on that video.
    const { assetId, title, description } = item;
    if (!again) queue.dismiss(item.actionKey);
    addFiles([file], { assetId, title, description });
  }
  return (
    <>
      <Button size="small" className="self-start" onClick={() => input.current?.click()}>
        {again ? "Choose the file again" : label}
      </Button>
      <FileInput ref={input} label={label} onFiles={choose} />
    </>
  );
}
