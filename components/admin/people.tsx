"use client";
import type { Role } from "@reelkeep/core/access/policy";
import type { People as PeopleList } from "@reelkeep/core/api/accounts";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { inviteCreator, listPeople, revokeInvitation } from "../api-client.ts";
import { InvitationList } from "../sharing/invitation-list.tsx";
import { InviteForm } from "../sharing/invite-form.tsx";
import { Button } from "../ui/button.tsx";
import { CopyField } from "../ui/copy-field.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { LocalMoment } from "../ui/local-moment.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

const peopleKey = ["people"] as const;
const roleLabels: Record<Role, string> = { creator: "Creator", viewer: "Viewer", admin: "Admin" };

/** Everyone with an account, and the invitations that would add more. For admins. */
export function People() {
  const people = useQuery({ queryKey: peopleKey, queryFn: ({ signal }) => listPeople(signal) });
  return (
    <div className="flex flex-col gap-8">
      <div className="flex items-center justify-between gap-4">
        <h1 className="text-title font-semibold tracking-tight">People</h1>
        <InviteCreator />
      </div>
      {people.error ? (
        <ProblemNote error={people.error}>
          <Button onClick={() => people.refetch()}>Try again</Button>
        </ProblemNote>
      ) : people.data ? (
        <>
          <PeopleTable people={people.data.people} />
          <Invitations invitations={people.data.invitations} />
        </>
      ) : (
        <Skeleton className="h-40" />
      )}
    </div>
  );
}

function PeopleTable({ people }: { people: PeopleList["people"] }) {
  return (
    <ul aria-label="Accounts" className="divide-y divide-line border-y border-line">
      {people.map((person) => (
        <li
          key={person.id}
          className="figures grid grid-cols-[1fr_auto] items-center gap-x-6 gap-y-0.5 py-3 sm:grid-cols-[1fr_6rem_6rem_8rem]"
        >
          <div className="min-w-0">
            <p className="truncate font-medium">{person.name}</p>
            <p className="truncate text-small text-ink-soft">{person.email}</p>
          </div>
          <span className="max-sm:justify-self-end">{roleLabels[person.role]}</span>
          <span className="text-ink-soft max-sm:text-small">
            {person.videoCount === 1 ? "1 video" : `${person.videoCount} videos`}
          </span>
          <span className="text-right text-small text-ink-soft">
            since <LocalMoment iso={person.createdAt} as="day" />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Invitations({ invitations }: { invitations: PeopleList["invitations"] }) {
  const queryClient = useQueryClient();
  const revoke = useMutation({
    mutationFn: revokeInvitation,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: peopleKey }),
  });
  if (invitations.length === 0) return null;
  return (
    <section aria-labelledby="invitations" className="flex flex-col gap-3">
      <h2 id="invitations" className="text-lead font-semibold">
        Invitations
      </h2>
      {revoke.error && <ProblemNote error={revoke.error} />}
      <InvitationList
        invitations={invitations}
        acceptedWords="Accepted"
        busyId={revoke.isPending ? revoke.variables : undefined}
        onRevoke={({ id }) => revoke.mutate(id)}
      />
    </section>
  );
}

function InviteCreator() {
  const queryClient = useQueryClient();
  const [link, setLink] = useState<string | null>(null);
  return (
    <Dialog
      trigger={
        <Button>
          <UserPlus aria-hidden /> Invite a creator
        </Button>
      }
      onOpenChange={() => setLink(null)}
      title="Invite a creator"
      description="Creators upload their own videos and share them."
    >
      <div className="flex flex-col gap-6">
        <InviteForm
          send={inviteCreator}
          onInvited={({ url }) => {
            setLink(url);
            void queryClient.invalidateQueries({ queryKey: peopleKey });
          }}
        />
        {link && (
          <div className="rounded-md border border-line bg-sunken p-4">
            <CopyField key={link} label="Invitation link, shown this once" value={link} />
          </div>
        )}
      </div>
    </Dialog>
  );
}
