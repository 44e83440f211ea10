"use client";
import { createContext, useContext, useSyncExternalStore } from "react";
import { toast } from "sonner";
import type { UploadOrigin } from "./upload-items.ts";
import type { UploadQueue } from "./upload-queue.ts";
import type { UploadItem } from "./upload-store.ts";

/** The tab's queue; null on the server and for people who may not upload. */
export const QueueContext = createContext<UploadQueue | null>(null);

/** Adds files to the queue and says so where one of them is there already. */
export function useAddFiles(): (files: readonly File[], origin?: UploadOrigin) => void {
  const queue = useContext(QueueContext);
  return (files, origin) => {
    const doubles = queue?.add(files, origin) ?? [];
    for (const name of doubles) toast.info(`${name} is already in the list.`);
  };
}

/** All uploads of this tab, told anew at every change. */
export const useUploads = (queue: UploadQueue): readonly UploadItem[] =>
  useSyncExternalStore(queue.store.subscribe, queue.store.items, queue.store.items);
