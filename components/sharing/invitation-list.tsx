"use client";
import type { Invitation } from "@reelkeep/core/api/accounts";
import { Button } from "../ui/button.tsx";
import { LocalMoment } from "../ui/local-moment.tsx";

const stateWords: Record<Invitation["state"], string> = {
  open: "Not accepted yet",
  accepted: "May watch",
  expired: "Link ended",
  revoked: "Revoked",
};

/** Who was let in by which invitation, and the button that ends it. */
export function InvitationList({
  invitations,
  acceptedWords = stateWords.accepted,
  busyId,
  onRevoke,
}: {
  invitations: readonly Invitation[];
  acceptedWords?: string;
  busyId: string | undefined;
  onRevoke: (invitation: Invitation) => void;
}) {
  return (
    <ul className="divide-y divide-line border-y border-line">
      {invitations.map((invitation) => {
        const who = invitation.acceptedBy?.name ?? invitation.email ?? "Anyone with the link";
        const state = invitation.state === "accepted" ? acceptedWords : stateWords[invitation.state];
        const revocable = invitation.state === "open" || invitation.state === "accepted";
        return (
          <li key={invitation.id} className="flex min-h-14 items-center justify-between gap-3 py-2">
            <div className="min-w-0">
              <p className="truncate">{who}</p>
              <p className="figures text-small text-ink-soft">
                {state}
                {invitation.state === "open" && (
                  <>
                    {" · ends "}
                    <LocalMoment iso={invitation.expiresAt} />
                  </>
                )}
              </p>
            </div>
            {revocable && (
              <Button
                look="harm"
                size="small"
                disabled={busyId === invitation.id}
                onClick={() => onRevoke(invitation)}
                aria-label={`Revoke the invitation of ${who}`}
              >
                Revoke
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
