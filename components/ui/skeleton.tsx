import { classNames } from "./class-names.ts";

/** Holds the place of what comes, in its shape. */
export const Skeleton = ({ className }: { className?: string }) => (
  <div aria-hidden className={classNames("animate-breathe rounded-md bg-sunken", className)} />
);
