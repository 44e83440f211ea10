"use client";
import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** A menu that opens below its button, and stays in the page's landmark that the button is in. */
export function Menu({ trigger, children }: { trigger: ReactNode; children: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Content
        align="end"
        sideOffset={8}
        collisionPadding={16}
        className="z-50 min-w-52 animate-appear rounded-md border border-line bg-surface p-1"
      >
        {children}
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  );
}

const row =
  "flex min-h-9 w-full items-center gap-2.5 rounded-md px-2.5 text-left outline-none select-none data-[highlighted]:bg-sunken [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-ink-soft";

export const MenuItem = ({ className, ...rest }: ComponentProps<typeof DropdownMenu.Item>) => (
  <DropdownMenu.Item className={classNames(row, className)} {...rest} />
);

export const MenuLine = () => <DropdownMenu.Separator className="my-1 h-px bg-line" />;

export const MenuHeading = ({ children }: { children: ReactNode }) => (
  <DropdownMenu.Label className="px-2.5 pt-1.5 pb-1 text-small text-ink-soft">{children}</DropdownMenu.Label>
);

/** One of several choices; the chosen one has a tick. */
export function MenuChoices<Value extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: Value;
  choices: readonly { value: Value; label: string }[];
  onChoose: (value: Value) => void;
}) {
  return (
    <DropdownMenu.RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(chosen) => onChoose(chosen as Value)}
    >
      {choices.map((choice) => (
        <DropdownMenu.RadioItem
          key={choice.value}
          value={choice.value}
          className={classNames(row, "pl-9 relative")}
        >
          <DropdownMenu.ItemIndicator className="absolute left-2.5">
            <Check aria-hidden />
          </DropdownMenu.ItemIndicator>
          {choice.label}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}
