"use client";
import type { UploadLimits } from "@reelkeep/core/upload/policy";
import { type ReactNode, useEffect, useState } from "react";
import { DropZone } from "./drop-zone.tsx";
import { QueueContext } from "./upload-context.ts";
import { UploadPanel } from "./upload-panel.tsx";
import { UploadQueue } from "./upload-queue.ts";

/** The tab's one queue: it outlives the layout that shows it, so that no navigation ends an upload. */
let tabQueue: { accountId: string; queue: UploadQueue } | undefined;

function queueOf(accountId: string, limits: UploadLimits): UploadQueue {
  if (tabQueue?.accountId !== accountId) tabQueue = { accountId, queue: new UploadQueue(limits, accountId) };
  return tabQueue.queue;
}

/** Brings uploading to the pages below: drop anywhere, and the panel that stays while one browses. */
export function UploadProvider({
  accountId,
  limits,
  mayUpload,
  children,
}: {
  accountId: string;
  limits: UploadLimits;
  mayUpload: boolean;
  children: ReactNode;
}) {
  const [queue, setQueue] = useState<UploadQueue | null>(null);
  // In an effect: the queue belongs to the browser's tab, there is none on the server.
  useEffect(() => {
    if (mayUpload) setQueue(queueOf(accountId, limits));
  }, [accountId, limits, mayUpload]);
  return (
    <QueueContext value={queue}>
      {children}
      {queue && (
        <>
          <DropZone />
          <UploadPanel queue={queue} />
        </>
      )}
    </QueueContext>
  );
}
