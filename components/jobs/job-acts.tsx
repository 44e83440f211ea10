"use client";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { describeCancelling, retryWords } from "@reelkeep/core/words/acts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { RotateCw, X } from "lucide-react";
import { useState } from "react";
import { cancelJob, retryJob } from "../api-client.ts";
import { assetsKey } from "../library/use-assets.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import type { FocusTarget } from "../ui/dialog.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import type { OfferedActs } from "./offered-acts.ts";
import { jobsKey } from "./use-jobs.ts";

type Act = "cancel" | "retry";

interface Props {
  readonly media: MediaStatus;
  readonly asset: Pick<AssetSummary, "id" | "title">;
  readonly offered: OfferedActs;
  /** Among other jobs: small, and without what goes without saying there. */
  readonly inList?: boolean;
  /** Once an act is done its button is gone: here the focus goes on. */
  readonly focusWhenDone: FocusTarget;
  readonly onActed?: (act: Act) => void;
}

/** The buttons that cancel a job or try it again. Pressing one twice does it once. */
export function JobActs({ media, asset, offered, inList = false, focusWhenDone, onActed }: Props) {
  const [asking, setAsking] = useState(false);
  const refresh = useRefreshJob(media, asset);
  const acting = useMutation({
    mutationFn: (act: Act) =>
      act === "cancel"
        ? cancelJob(media.actionKey)
        : retryJob(media.actionKey, { generation: media.generation ?? 1 }),
    // Without a connection it fails at once: it must not happen later, when nobody looks.
    networkMode: "always",
    onSuccess: (_, act) => {
      focusWhenDone?.current?.focus();
      onActed?.(act);
    },
    onSettled: refresh,
  });
  const pending = acting.isPending ? acting.variables : null;
  const size = inList ? "small" : "normal";

  function askOrCancel() {
    if (offered.cancel === "confirm") setAsking(true);
    else press("cancel");
  }
  function press(act: Act) {
    if (!pending) acting.mutate(act);
  }

  if (offered.cancel === "no" && !offered.retry && !asking && !acting.error) return null;
  return (
    // In a list the buttons take their column, and what went wrong a row of its own below.
    <div className={inList ? "contents" : "flex flex-col items-start gap-3"}>
      <div className={inList ? "md:col-start-3 md:justify-self-end" : "contents"}>
        {offered.cancel !== "no" && (
          <Button size={size} aria-disabled={pending !== null} onClick={askOrCancel}>
            <X aria-hidden />
            {pending === "cancel" ? "Cancelling…" : "Cancel"}
            {inList && <span className="sr-only"> {asset.title}</span>}
          </Button>
        )}
        {offered.retry && (
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            <Button
              size={size}
              look={!inList && media.status === "failed" ? "next" : "plain"}
              aria-disabled={pending !== null}
              onClick={() => press("retry")}
            >
              <RotateCw aria-hidden />
              {pending === "retry" ? "Trying again…" : "Try again"}
              {inList && <span className="sr-only"> {asset.title}</span>}
            </Button>
            {!inList && <p className="text-small text-ink-soft">{retryWords}</p>}
          </div>
        )}
      </div>
      {acting.error && (
        <div className="md:col-span-full">
          <ProblemNote error={acting.error} />
        </div>
      )}
      <ConfirmDialog
        words={describeCancelling(asset, media)}
        open={asking}
        onOpenChange={setAsking}
        act={() => cancelJob(media.actionKey).finally(() => void refresh())}
        onDone={() => {
          acting.reset();
          onActed?.("cancel");
        }}
        focusWhenDone={focusWhenDone}
      />
    </div>
  );
}

/** What an act changed, or what had moved before it and made it fail, is asked for again wherever it is shown. */
function useRefreshJob({ actionKey }: MediaStatus, asset: Pick<AssetSummary, "id">) {
  const queryClient = useQueryClient();
  return () =>
    Promise.all(
      [["media", actionKey], ["asset", asset.id], assetsKey, jobsKey].map((queryKey) =>
        queryClient.invalidateQueries({ queryKey }),
      ),
    );
}
