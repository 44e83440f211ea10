"use client";
import { signInSchema } from "@reelkeep/core/api/accounts";
import { signIn } from "../api-client.ts";
import { Button } from "../ui/button.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { useContractForm } from "./form-state.ts";
import { EmailField, PasswordField } from "./person-fields.tsx";

/** Signs in and goes on to `returnPath`, a path on this site. */
export function SignInForm({ returnPath }: { returnPath: string }) {
  const { submit, faults, error, busy } = useContractForm({
    contract: signInSchema,
    send: signIn,
    // A full load: everything that was rendered for nobody is rendered again for this person.
    onDone: () => window.location.assign(returnPath),
  });
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <EmailField fault={faults.email} />
      <PasswordField fault={faults.password} isNew={false} />
      {error && <ProblemNote error={error} />}
      <Button type="submit" look="next" disabled={busy} className="mt-2 h-10">
        {busy ? "Signing in" : "Sign in"}
      </Button>
    </form>
  );
}
