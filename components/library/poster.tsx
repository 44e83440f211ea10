"use client";
import { Film } from "lucide-react";
import { useState } from "react";

/** A video's poster; a quiet mark where there is none or its address has ended. */
export function Poster({ url }: { url: string | null }) {
  const [brokenUrl, setBrokenUrl] = useState<string | null>(null);
  if (url === null || url === brokenUrl)
    return (
      <div className="grid size-full place-items-center text-line-strong">
        <Film aria-hidden className="size-5" />
      </div>
    );
  return (
    // biome-ignore lint/performance/noImgElement: a signed, short-lived address that no image service may cache.
    <img
      src={url}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => setBrokenUrl(url)}
      className="size-full object-cover"
    />
  );
}
