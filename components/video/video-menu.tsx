"use client";
import type { AssetSummary } from "@reelkeep/core/api/assets";
import { Ellipsis, Link2, Maximize, Pencil } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { toast } from "sonner";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { DetailsForm } from "./details-form.tsx";

/** What else can be done with a video. */
export function VideoMenu({ asset, mayEdit }: { asset: AssetSummary; mayEdit: boolean }) {
  const [editing, setEditing] = useState(false);
  const watchPath = `/watch/${asset.id}`;

  async function copyAddress() {
    await navigator.clipboard.writeText(new URL(watchPath, window.location.href).href);
    toast.success("Address copied. Only people you invited can open it.");
  }

  return (
    <>
      <Menu
        trigger={
          <Button size="icon" aria-label="More about this video">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        {mayEdit && (
          <MenuItem onSelect={() => setEditing(true)}>
            <Pencil aria-hidden /> Edit title and description
          </MenuItem>
        )}
        {asset.version && (
          <MenuItem asChild>
            <Link href={watchPath}>
              <Maximize aria-hidden /> Just the film
            </Link>
          </MenuItem>
        )}
        <MenuItem onSelect={copyAddress}>
          <Link2 aria-hidden /> Copy its address
        </MenuItem>
      </Menu>
      <Dialog
        open={editing}
        onOpenChange={setEditing}
        title="Title and description"
        description="Viewers see both beside the film."
      >
        <DetailsForm asset={asset} onSaved={() => setEditing(false)} />
      </Dialog>
    </>
  );
}
