"use client";
import { describeAllowing, describeBlocking } from "@reelkeep/core/words/acts";
import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { setAssetState } from "../api-client.ts";
import { assetsKey } from "../library/use-assets.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import type { VideoQuestion } from "./delete-video.tsx";

/** Asks an admin whether nobody shall watch a video any more, or everybody again who could. */
export function BlockVideo({ asset, media, open, onOpenChange, focusAfter }: VideoQuestion) {
  const queryClient = useQueryClient();
  const blocked = asset.state === "blocked";
  const words = blocked ? describeAllowing(asset) : describeBlocking(asset, media);

  function tell() {
    toast.success(words.done);
    for (const queryKey of [["asset", asset.id], assetsKey]) void queryClient.invalidateQueries({ queryKey });
  }
  return (
    <ConfirmDialog
      words={words}
      harm={!blocked}
      open={open}
      onOpenChange={onOpenChange}
      focusAfter={focusAfter}
      act={() => setAssetState(asset.id, { state: blocked ? "active" : "blocked" })}
      onDone={tell}
    />
  );
}
