"use client";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { CircleCheck, CircleSlash, Ellipsis, Link2, Maximize, Pencil, Trash2 } from "lucide-react";
import Link from "next/link";
import { useRef, useState } from "react";
import { toast } from "sonner";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/menu.tsx";
import { BlockVideo } from "./block-video.tsx";
import { DeleteVideo } from "./delete-video.tsx";
import { DetailsForm } from "./details-form.tsx";

/** What else can be done with a video; `may` says by whom. */
export function VideoMenu({
  asset,
  media,
  may,
}: {
  asset: AssetSummary;
  media: MediaStatus | undefined;
  may: { readonly edit: boolean; readonly block: boolean; readonly delete: boolean };
}) {
  const [asking, setAsking] = useState<"details" | "block" | "delete" | null>(null);
  const close = () => setAsking(null);
  const opener = useRef<HTMLButtonElement>(null);
  const watchPath = `/watch/${asset.id}`;

  async function copyAddress() {
    await navigator.clipboard.writeText(new URL(watchPath, window.location.href).href);
    toast.success("Address copied. Only people you invited can open it.");
  }

  return (
    <>
      <Menu
        trigger={
          <Button ref={opener} size="icon" aria-label="More about this video">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        {may.edit && (
          <MenuItem onSelect={() => setAsking("details")}>
            <Pencil aria-hidden /> Edit title and description
          </MenuItem>
        )}
        {asset.version && asset.state === "active" && (
          <MenuItem asChild>
            <Link href={watchPath}>
              <Maximize aria-hidden /> Just the film
            </Link>
          </MenuItem>
        )}
        <MenuItem onSelect={copyAddress}>
          <Link2 aria-hidden /> Copy its address
        </MenuItem>
        {(may.block || may.delete) && <MenuLine />}
        {may.block && (
          <MenuItem onSelect={() => setAsking("block")}>
            {asset.state === "blocked" ? <CircleCheck aria-hidden /> : <CircleSlash aria-hidden />}
            {asset.state === "blocked" ? "Allow again…" : "Block…"}
          </MenuItem>
        )}
        {may.delete && (
          <MenuItem onSelect={() => setAsking("delete")} className="text-bad [&_svg]:text-bad">
            <Trash2 aria-hidden /> Delete video…
          </MenuItem>
        )}
      </Menu>
      <Dialog
        open={asking === "details"}
        onOpenChange={close}
        focusAfter={opener}
        title="Title and description"
        description="Viewers see both beside the film."
      >
        <DetailsForm asset={asset} onSaved={close} />
      </Dialog>
      <BlockVideo
        asset={asset}
        media={media}
        open={asking === "block"}
        onOpenChange={close}
        focusAfter={opener}
      />
      <DeleteVideo
        asset={asset}
        media={media}
        open={asking === "delete"}
        onOpenChange={close}
        focusAfter={opener}
      />
    </>
  );
}
