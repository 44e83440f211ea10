"use client";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { describeDeletion } from "@reelkeep/core/words/acts";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useContext } from "react";
import { toast } from "sonner";
import { deleteAsset } from "../api-client.ts";
import { assetsKey } from "../library/use-assets.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import type { FocusTarget } from "../ui/dialog.tsx";
import { QueueContext } from "../upload/upload-context.ts";

/** A question about a video; `focusAfter` takes the focus back where what opened it is gone by then. */
export interface VideoQuestion {
  readonly asset: AssetSummary;
  readonly media: MediaStatus | undefined;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly focusAfter?: FocusTarget;
}

/** Asks whether a video shall go for good; then leads back to the library, which no longer has it. */
export function DeleteVideo({ asset, media, open, onOpenChange, focusAfter }: VideoQuestion) {
  const router = useRouter();
  const queryClient = useQueryClient();
  const queue = useContext(QueueContext);
  const words = describeDeletion(asset, media);

  function leave() {
    // No cached list may show it for a moment more, and no upload may lead to it.
    queryClient.removeQueries({ queryKey: assetsKey });
    queue?.dropVideo(asset.id);
    router.replace("/");
    toast.success(words.done);
  }
  return (
    <ConfirmDialog
      words={words}
      open={open}
      onOpenChange={onOpenChange}
      focusAfter={focusAfter}
      act={() => deleteAsset(asset.id)}
      onDone={leave}
    />
  );
}
