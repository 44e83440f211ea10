"use client";
import type { ActWords } from "@reelkeep/core/words/acts";
import { useMutation } from "@tanstack/react-query";
import { AlertDialog } from "radix-ui";
import { useRef } from "react";
import { Button } from "./button.tsx";
import { dialogLook, type FocusTarget, moveFocus } from "./dialog.tsx";
import { ProblemNote } from "./problem-note.tsx";

/**
 * Asks once more before something is done. The button that leaves everything as it is has the focus; the dialog
 * closes when the act is done, and stays with the reason when it failed.
 */
export function ConfirmDialog({
  words,
  harm = true,
  open,
  onOpenChange,
  act,
  onDone,
  focusAfter,
  focusWhenDone = focusAfter,
}: {
  words: ActWords;
  /** Whether it takes something away. */
  harm?: boolean;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  act: () => Promise<unknown>;
  onDone?: () => void;
  /** Where the focus goes back to, where what opened it is gone by then, such as a menu's row. */
  focusAfter?: FocusTarget;
  /** Where it goes on after the act, where the button that opened it is gone then. */
  focusWhenDone?: FocusTarget;
}) {
  const done = useRef(false);
  const acting = useMutation({
    mutationFn: act,
    // Without a connection it fails at once: it must not happen later, when nobody looks.
    networkMode: "always",
    onSuccess: () => {
      done.current = true;
      onOpenChange(false);
      onDone?.();
    },
  });
  function change(next: boolean) {
    if (acting.isPending) return;
    acting.reset();
    onOpenChange(next);
  }
  return (
    <AlertDialog.Root open={open} onOpenChange={change}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={dialogLook.overlay} />
        <AlertDialog.Content
          className={dialogLook.content}
          onCloseAutoFocus={(event) => {
            moveFocus(event, done.current ? focusWhenDone : focusAfter);
            done.current = false;
          }}
        >
          <AlertDialog.Title className={dialogLook.title}>{words.question}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="mt-3 flex flex-col gap-2 text-ink-soft">
              {words.consequences.map((consequence) => (
                <p key={consequence}>{consequence}</p>
              ))}
            </div>
          </AlertDialog.Description>
          {acting.error && (
            <div className="mt-5">
              <ProblemNote error={acting.error} />
            </div>
          )}
          <div className="mt-6 flex flex-col-reverse gap-3 sm:flex-row sm:justify-end">
            <AlertDialog.Cancel asChild>
              <Button aria-disabled={acting.isPending}>{words.keep}</Button>
            </AlertDialog.Cancel>
            <Button
              look={harm ? "harm" : "next"}
              aria-disabled={acting.isPending}
              onClick={() => !acting.isPending && acting.mutate()}
            >
              {acting.isPending ? words.acting : words.act}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
