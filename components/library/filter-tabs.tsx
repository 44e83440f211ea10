import { type AssetFilter, type AssetList, assetFilters } from "@reelkeep/core/api/assets";
import { LinkTabs } from "../ui/link-tabs.tsx";

const labels: Record<AssetFilter, string> = {
  all: "All",
  processing: "Processing",
  "needs-you": "Needs you",
};

/** The library's filters, as links that keep the search. */
export const FilterTabs = ({
  chosen,
  q,
  counts,
}: {
  chosen: AssetFilter;
  q: string;
  counts: AssetList["counts"] | undefined;
}) => (
  <LinkTabs
    label="Filter"
    tabs={assetFilters.map((filter) => ({
      label: labels[filter],
      href: pathFor(filter, q),
      chosen: filter === chosen,
      count: filter === "all" ? null : counts?.[filter],
    }))}
  />
);

function pathFor(filter: AssetFilter, q: string): string {
  const search = new URLSearchParams();
  if (filter !== "all") search.set("filter", filter);
  if (q) search.set("q", q);
  return search.size > 0 ? `/?${search}` : "/";
}
