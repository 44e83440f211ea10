"use client";
import { type AcceptedInvitation, type Account, acceptInvitationSchema } from "@reelkeep/core/api/accounts";
import { useMutation } from "@tanstack/react-query";
import Link from "next/link";
import { acceptInvitation } from "../api-client.ts";
import { Button } from "../ui/button.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { useContractForm } from "./form-state.ts";
import { EmailField, NameField, PasswordField } from "./person-fields.tsx";

const goOn = ({ assetId }: AcceptedInvitation) => window.location.assign(assetId ? `/watch/${assetId}` : "/");

/** For someone who is signed in: one button. */
export function AcceptAsAccount({ token, account }: { token: string; account: Account }) {
  const accept = useMutation({ mutationFn: acceptInvitation, onSuccess: goOn });
  return (
    <div className="flex flex-col gap-4">
      {accept.error && <ProblemNote error={accept.error} />}
      <Button
        look="next"
        className="h-10"
        disabled={accept.isPending || accept.isSuccess}
        onClick={() => accept.mutate({ token })}
      >
        Accept as {account.name}
      </Button>
    </div>
  );
}

const newAccountSchema = acceptInvitationSchema.shape.account.unwrap();

/** For someone new: an account comes with accepting. Whoever has one signs in first and comes back. */
export function AcceptAsNewPerson({ token, email }: { token: string; email: string | null }) {
  const { submit, faults, error, busy } = useContractForm({
    contract: newAccountSchema,
    send: (account) => acceptInvitation({ token, account }),
    onDone: goOn,
  });
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <NameField fault={faults.name} />
      <EmailField
        fault={faults.email}
        fixed={email}
        hint={email !== null ? "The invitation is for this address." : undefined}
      />
      <PasswordField fault={faults.password} isNew />
      {error && <ProblemNote error={error} />}
      <Button type="submit" look="next" disabled={busy} className="mt-2 h-10">
        {busy ? "Making your account" : "Make an account and go on"}
      </Button>
      <p className="text-ink-soft">
        Do you have an account?{" "}
        <Link href={`/sign-in?next=${encodeURIComponent(`/invite/${token}`)}`} className="text-ink underline">
          Sign in
        </Link>
      </p>
    </form>
  );
}
