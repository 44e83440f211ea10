"use client";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode, RefObject } from "react";
import { Button } from "./button.tsx";

/** How every dialog lies over the page. */
export const dialogLook = {
  overlay: "fixed inset-0 z-40 animate-appear bg-scrim",
  content:
    "fixed inset-x-4 top-1/2 z-50 mx-auto max-h-[calc(100dvh-2rem)] max-w-lg -translate-y-1/2 animate-appear overflow-y-auto rounded-md border border-line bg-surface p-6 focus:outline-none",
  title: "text-lead font-semibold text-balance break-words",
} as const;

/** Something that may be there to take the focus. */
export type FocusTarget = RefObject<HTMLElement | null> | undefined;

/** When a dialog closes: puts the focus on `target`, if there is one, instead of on what opened the dialog. */
export function moveFocus(event: Event, target: FocusTarget): void {
  if (!target?.current) return;
  event.preventDefault();
  target.current.focus();
}

/** A dialog over the page; Escape and the cross close it, focus goes back to where it came from. */
export function Dialog({
  trigger,
  title,
  description,
  children,
  open,
  onOpenChange,
  focusAfter,
}: {
  trigger?: ReactNode;
  title: string;
  description: string;
  children: ReactNode;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** Where the focus goes back to, where what opened it is gone by then, such as a menu's row. */
  focusAfter?: FocusTarget;
}) {
  return (
    <Radix.Root
      {...(open === undefined ? {} : { open })}
      {...(onOpenChange === undefined ? {} : { onOpenChange })}
    >
      {trigger && <Radix.Trigger asChild>{trigger}</Radix.Trigger>}
      <Radix.Portal>
        <Radix.Overlay className={dialogLook.overlay} />
        <Radix.Content
          className={dialogLook.content}
          onCloseAutoFocus={(event) => moveFocus(event, focusAfter)}
        >
          <div className="mb-5 flex items-start justify-between gap-4">
            <div>
              <Radix.Title className={dialogLook.title}>{title}</Radix.Title>
              <Radix.Description className="mt-1 text-ink-soft">{description}</Radix.Description>
            </div>
            <Radix.Close asChild>
              <Button look="quiet" size="small-icon" aria-label="Close" className="-mt-1 -mr-2">
                <X aria-hidden />
              </Button>
            </Radix.Close>
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
