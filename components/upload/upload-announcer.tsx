"use client";
import { describeSending } from "@reelkeep/core/words/sending";
import { useEffect, useRef, useState } from "react";
import type { UploadItem } from "./upload-store.ts";

/** Says aloud what changed, calmly: a new state, or another quarter of a file. */
export function UploadAnnouncer({ items }: { items: readonly UploadItem[] }) {
  const said = useRef(new Map<string, string>());
  const [message, setMessage] = useState("");
  useEffect(() => {
    for (const item of items) {
      const quarter = item.sizeBytes > 0 ? Math.floor((item.sentBytes / item.sizeBytes) * 4) : 0;
      const step = item.phase === "sending" ? `sending ${quarter}` : item.phase;
      if (said.current.get(item.actionKey) === step) continue;
      said.current.set(item.actionKey, step);
      const { label, detail } = describeSending(item);
      setMessage(`${item.title}: ${label}. ${item.phase === "sending" ? "" : detail}`);
    }
  }, [items]);
  return (
    <p role="status" className="sr-only">
      {message}
    </p>
  );
}
