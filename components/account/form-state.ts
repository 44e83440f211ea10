"use client";
import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";

/** The part of a zod object schema that a form needs. */
interface FormContract<Value> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: Value }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/**
 * A form whose named fields are checked by the same contract as on the server. `faults` has the first fault of
 * each field, by its name; the first faulty field gets the focus.
 */
export function useContractForm<Value, Answer>(options: {
  contract: FormContract<Value>;
  send: (value: Value) => Promise<Answer>;
  onDone: (answer: Answer) => void;
}) {
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const sending = useMutation({ mutationFn: options.send, onSuccess: options.onDone });

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const parsed = options.contract.safeParse(Object.fromEntries(new FormData(form)));
    if (parsed.success) {
      setFaults({});
      sending.mutate(parsed.data);
      return;
    }
    const found: Record<string, string> = {};
    for (const { path, message } of parsed.error.issues) found[String(path[0])] ??= message;
    setFaults(found);
    const first = [...form.elements].find(
      (field) => field instanceof HTMLInputElement && field.name in found,
    );
    if (first instanceof HTMLElement) first.focus();
  }

  return { submit, faults, error: sending.error, busy: sending.isPending || sending.isSuccess };
}
