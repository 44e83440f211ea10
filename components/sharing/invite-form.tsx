"use client";
import {
  type InvitationRequest,
  invitationRequestSchema,
  type NewInvitation,
} from "@reelkeep/core/api/accounts";
import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";

/** Makes one invitation; the address is optional and, when given, the only one that may accept. */
export function InviteForm({
  send,
  onInvited,
}: {
  send: (request: InvitationRequest) => Promise<NewInvitation>;
  onInvited: (invitation: NewInvitation) => void;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [fault, setFault] = useState<string>();
  const invite = useMutation({
    mutationFn: send,
    onSuccess: (invitation) => {
      form.current?.reset();
      onInvited(invitation);
    },
  });

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get("email") ?? "").trim();
    const parsed = invitationRequestSchema.safeParse(email ? { email } : {});
    setFault(parsed.error?.issues[0]?.message);
    if (parsed.success) invite.mutate(parsed.data);
  }

  return (
    <form ref={form} onSubmit={submit} noValidate className="flex flex-col gap-3">
      <TextField
        label="E-mail (optional)"
        name="email"
        type="email"
        autoComplete="off"
        hint="With an address, only that person can accept. Nothing is sent: you pass the link on."
        fault={fault}
      />
      {invite.error && <ProblemNote error={invite.error} />}
      <Button type="submit" disabled={invite.isPending} className="self-start">
        Create an invitation link
      </Button>
    </form>
  );
}
