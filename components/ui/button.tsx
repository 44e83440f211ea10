import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui";
import type { ComponentProps } from "react";
import { classNames } from "./class-names.ts";

const looks = cva(
  "inline-flex shrink-0 items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap transition-colors disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      look: {
        /** The one thing to do next; at most one in sight. */
        next: "bg-accent text-on-accent hover:bg-accent-hover disabled:hover:bg-accent",
        plain: "border border-line bg-surface text-ink hover:bg-sunken disabled:hover:bg-surface",
        quiet: "text-ink-soft hover:bg-sunken hover:text-ink disabled:hover:bg-transparent",
        harm: "border border-line bg-surface text-bad hover:bg-sunken",
      },
      size: {
        normal: "h-9 px-3.5",
        small: "h-8 px-2.5 text-small",
        icon: "size-9",
        "small-icon": "size-8",
      },
    },
    defaultVariants: { look: "plain", size: "normal" },
  },
);

/** `asChild` gives the look to a link inside. An icon alone needs an `aria-label`. */
export function Button({
  look,
  size,
  asChild = false,
  className,
  type,
  ...rest
}: ComponentProps<"button"> & VariantProps<typeof looks> & { asChild?: boolean }) {
  const Element = asChild ? Slot.Root : "button";
  return (
    <Element
      className={classNames(looks({ look, size }), className)}
      {...(asChild ? {} : { type: type ?? "button" })}
      {...rest}
    />
  );
}
