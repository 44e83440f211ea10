"use client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link2, UserPlus } from "lucide-react";
import { useState } from "react";
import { inviteViewer, listInvitations, revokeInvitation } from "../api-client.ts";
import { Button } from "../ui/button.tsx";
import { CopyField } from "../ui/copy-field.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { InvitationList } from "./invitation-list.tsx";
import { InviteForm } from "./invite-form.tsx";

interface Shared {
  assetId: string;
  /** False while nobody can watch it: people can still be shown the door. */
  mayInvite: boolean;
}

/** Lets people in to one video, one by one, and out again. */
export function SharingDialog({ title, ...shared }: Shared & { title: string }) {
  const [open, setOpen] = useState(false);
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button>
          <UserPlus aria-hidden /> Share
        </Button>
      }
      title={`Share “${title}”`}
      description={
        shared.mayInvite
          ? "Only people you invite can watch it. Each invitation is a link for one person."
          : "Nobody can watch it while it is blocked. The people invited can again once it is allowed."
      }
    >
      <Sharing {...shared} />
    </Dialog>
  );
}

function Sharing({ assetId, mayInvite }: Shared) {
  const queryClient = useQueryClient();
  const queryKey = ["invitations", assetId];
  const list = useQuery({ queryKey, queryFn: ({ signal }) => listInvitations(assetId, signal) });
  const refresh = () => queryClient.invalidateQueries({ queryKey });
  const revoke = useMutation({ mutationFn: revokeInvitation, onSuccess: refresh });
  const [newLink, setNewLink] = useState<string | null>(null);

  return (
    <div className="flex flex-col gap-6">
      {mayInvite && (
        <InviteForm
          send={(request) => inviteViewer(assetId, request)}
          onInvited={({ url }) => {
            setNewLink(url);
            void refresh();
          }}
        />
      )}
      {newLink && (
        <div className="rounded-md border border-line bg-sunken p-4">
          <CopyField key={newLink} label="Invitation link, shown this once" value={newLink} />
        </div>
      )}
      {(list.error ?? revoke.error) && <ProblemNote error={list.error ?? revoke.error} />}
      {list.isPending ? (
        <Skeleton className="h-14" />
      ) : list.data && list.data.invitations.length > 0 ? (
        <InvitationList
          invitations={list.data.invitations}
          busyId={revoke.isPending ? revoke.variables : undefined}
          onRevoke={({ id }) => revoke.mutate(id)}
        />
      ) : (
        <p className="flex items-center gap-2 text-ink-soft">
          <Link2 aria-hidden className="size-4" /> Nobody is invited yet.
        </p>
      )}
    </div>
  );
}
