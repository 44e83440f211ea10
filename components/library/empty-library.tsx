"use client";
import type { AssetFilter } from "@reelkeep/core/api/assets";
import { Film, SearchX } from "lucide-react";
import Link from "next/link";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { SampleButton } from "../upload/sample-button.tsx";
import { UploadButton } from "../upload/upload-button.tsx";

/** The first thing a new creator sees. */
export function EmptyLibrary({ mayUpload }: { mayUpload: boolean }) {
  if (!mayUpload)
    return (
      <Empty
        icon={<Film aria-hidden />}
        title="Nothing here yet"
        text="Videos that people share with you appear here."
      />
    );
  return (
    <Empty
      icon={<Film aria-hidden />}
      title="No videos yet"
      text="Drop a video anywhere on this page. It stays private until you invite someone. No video at hand? Try it with the sample clip."
    >
      <UploadButton label="Choose a video" look="plain" />
      <SampleButton />
    </Empty>
  );
}

/** A filter or a search that has no match. */
export function NothingFound({ filter, q }: { filter: AssetFilter; q: string }) {
  const [title, text] = q
    ? [`No video matches “${q}”`, "Search looks at titles and descriptions."]
    : filter === "needs-you"
      ? ["Nothing needs you", "Videos that couldn't be processed would be here."]
      : ["Nothing is being processed", "Uploads show here while they are worked on."];
  return (
    <Empty icon={<SearchX aria-hidden />} title={title} text={text}>
      <Button asChild>
        <Link href="/">Show all videos</Link>
      </Button>
    </Empty>
  );
}
