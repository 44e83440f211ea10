import { AcceptAsAccount, AcceptAsNewPerson } from "@reelkeep/components/account/accept-invitation";
import { EntranceHeading } from "@reelkeep/components/account/entrance-heading";
import { errorInfo } from "@reelkeep/core/errors";
import type { Metadata } from "next";
import { currentAccount, previewInvitation } from "../../../server/context.ts";

export const metadata: Metadata = { title: "Invitation", referrer: "no-referrer" };

export default async function InvitationPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const [invitation, account] = await Promise.all([previewInvitation(token), currentAccount()]);
  if (!invitation) {
    const { message, next } = errorInfo("invitation-invalid");
    return <EntranceHeading title={message}>{next}</EntranceHeading>;
  }
  const { invitedBy, assetTitle, email } = invitation;
  return (
    <>
      <EntranceHeading
        title={
          assetTitle ? `${invitedBy} shares “${assetTitle}” with you` : `${invitedBy} invites you to Reelkeep`
        }
      >
        {assetTitle
          ? "It is private: only invited people can watch it."
          : "You can upload videos and share them."}
      </EntranceHeading>
      {account ? (
        <AcceptAsAccount token={token} account={account} />
      ) : (
        <AcceptAsNewPerson token={token} email={email} />
      )}
    </>
  );
}
