import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

/** Knows our four sizes of text, which it would otherwise take for colours. */
const merge = extendTailwindMerge({
  extend: { theme: { text: ["small", "base", "lead", "title"] } },
});

/** Joins class names; of two that contradict each other the later one wins. */
export const classNames = (...values: ClassValue[]): string => merge(clsx(values));
