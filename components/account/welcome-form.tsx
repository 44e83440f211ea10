"use client";
import { welcomeSchema } from "@reelkeep/core/api/accounts";
import { createOwner } from "../api-client.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { useContractForm } from "./form-state.ts";
import { EmailField, NameField, PasswordField } from "./person-fields.tsx";

/** Makes the first account: whoever holds the one-time code owns this installation. */
export function WelcomeForm() {
  const { submit, faults, error, busy } = useContractForm({
    contract: welcomeSchema,
    send: createOwner,
    onDone: () => window.location.assign("/"),
  });
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <TextField
        label="One-time code"
        name="code"
        autoComplete="one-time-code"
        hint="It was printed where Reelkeep was started."
        fault={faults.code}
        className="font-mono"
        spellCheck={false}
        required
      />
      <NameField fault={faults.name} />
      <EmailField fault={faults.email} />
      <PasswordField fault={faults.password} isNew />
      {error && <ProblemNote error={error} />}
      <Button type="submit" look="next" disabled={busy} className="mt-2 h-10">
        {busy ? "Setting up" : "Create the owner's account"}
      </Button>
    </form>
  );
}
