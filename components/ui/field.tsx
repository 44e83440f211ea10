import { type ComponentProps, type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

const box =
  "w-full rounded-md border border-line-strong bg-surface px-3 text-ink placeholder:text-ink-soft disabled:opacity-60 aria-invalid:border-bad";

interface FieldWords {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with it, in words. */
  readonly fault?: string | undefined;
}

function useFieldWords({ hint, fault }: FieldWords) {
  const id = useId();
  const noteId = `${id}-note`;
  return {
    control: {
      id,
      "aria-invalid": fault ? true : undefined,
      "aria-describedby": hint || fault ? noteId : undefined,
    },
    noteId,
  };
}

function FieldFrame({
  words: { label, hint, fault },
  id,
  noteId,
  children,
}: {
  words: FieldWords;
  id: string;
  noteId: string;
  children: ReactNode;
}) {
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-small font-medium">
        {label}
      </label>
      {children}
      {(hint || fault) && (
        <p id={noteId} className={classNames("text-small", fault ? "text-bad" : "text-ink-soft")}>
          {fault ?? hint}
        </p>
      )}
    </div>
  );
}

/** One line of text with its label, its hint and its fault. */
export function TextField({
  label,
  hint,
  fault,
  className,
  ...rest
}: FieldWords & Omit<ComponentProps<"input">, "id">) {
  const { control, noteId } = useFieldWords({ label, hint, fault });
  return (
    <FieldFrame words={{ label, hint, fault }} id={control.id} noteId={noteId}>
      <input className={classNames(box, "h-10", className)} {...control} {...rest} />
    </FieldFrame>
  );
}

/** Several lines of text with their label. */
export function TextArea({
  label,
  hint,
  fault,
  className,
  ...rest
}: FieldWords & Omit<ComponentProps<"textarea">, "id">) {
  const { control, noteId } = useFieldWords({ label, hint, fault });
  return (
    <FieldFrame words={{ label, hint, fault }} id={control.id} noteId={noteId}>
      <textarea className={classNames(box, "min-h-20 resize-y py-2", className)} {...control} {...rest} />
    </FieldFrame>
  );
}
