import type { AssetFilter, AssetList } from "@reelkeep/core/api/assets";
import Link from "next/link";
import { classNames } from "../ui/class-names.ts";

const labels: Record<AssetFilter, string> = {
  all: "All",
  processing: "Processing",
  "needs-you": "Needs you",
};

/** The library's filters, as links that keep the search. */
export function FilterTabs({
  chosen,
  q,
  counts,
}: {
  chosen: AssetFilter;
  q: string;
  counts: AssetList["counts"] | undefined;
}) {
  return (
    <nav aria-label="Filter" className="flex gap-1 border-b border-line">
      {(Object.keys(labels) as AssetFilter[]).map((filter) => (
        <Link
          key={filter}
          href={pathFor(filter, q)}
          replace
          scroll={false}
          aria-current={filter === chosen ? "page" : undefined}
          className={classNames(
            "figures -mb-px border-b-2 px-3 py-2 whitespace-nowrap",
            filter === chosen
              ? "border-ink font-medium text-ink"
              : "border-transparent text-ink-soft hover:text-ink",
          )}
        >
          {labels[filter]}{" "}
          {filter !== "all" && (
            <span className="inline-block min-w-5 text-right">{counts?.[filter] ?? ""}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function pathFor(filter: AssetFilter, q: string): string {
  const search = new URLSearchParams();
  if (filter !== "all") search.set("filter", filter);
  if (q) search.set("q", q);
  return search.size > 0 ? `/?${search}` : "/";
}
