import Link from "next/link";
import { classNames } from "./class-names.ts";

/** A choice that the address tells. `count` is null where none is shown, undefined until it is known. */
export interface LinkTab {
  readonly label: string;
  readonly href: string;
  readonly chosen: boolean;
  readonly count?: number | null | undefined;
}

/** Tabs as links, so that a choice can be kept, shared and gone back to. */
export function LinkTabs({ label, tabs }: { label: string; tabs: readonly LinkTab[] }) {
  return (
    <nav aria-label={label} className="flex gap-1 border-b border-line">
      {tabs.map((tab) => (
        <Link
          key={tab.href}
          href={tab.href}
          replace
          scroll={false}
          aria-current={tab.chosen ? "page" : undefined}
          className={classNames(
            "figures -mb-px border-b-2 px-3 py-2 whitespace-nowrap",
            tab.chosen
              ? "border-ink font-medium text-ink"
              : "border-transparent text-ink-soft hover:text-ink",
          )}
        >
          {tab.label}{" "}
          {tab.count !== null && <span className="inline-block min-w-5 text-right">{tab.count ?? ""}</span>}
        </Link>
      ))}
    </nav>
  );
}
