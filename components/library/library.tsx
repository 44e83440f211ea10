"use client";
import { type AssetFilter, assetFilters } from "@reelkeep/core/api/assets";
import { useSearchParams } from "next/navigation";
import { Button } from "../ui/button.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { AssetCard, AssetCardSkeleton } from "./asset-card.tsx";
import { EmptyLibrary, NothingFound } from "./empty-library.tsx";
import { FilterTabs } from "./filter-tabs.tsx";
import { useAssets } from "./use-assets.ts";

const grid = "grid grid-cols-1 gap-x-5 gap-y-7 min-[480px]:grid-cols-2 lg:grid-cols-3 xl:grid-cols-4";

/** All videos that this person may see; what to show is told by the address. */
export function Library({ mayUpload }: { mayUpload: boolean }) {
  const search = useSearchParams();
  const filter = parseFilter(search.get("filter"));
  const q = search.get("q") ?? "";
  const list = useAssets(filter, q);
  const pages = list.data?.pages ?? [];
  const assets = pages.flatMap((page) => page.assets);
  const counts = pages[0]?.counts;

  return (
    <div className="flex flex-col gap-6">
      <h1 className="sr-only">Library</h1>
      <FilterTabs chosen={filter} q={q} counts={counts} />
      {list.error && pages.length === 0 ? (
        <ProblemNote error={list.error}>
          <Button onClick={() => list.refetch()}>Try again</Button>
        </ProblemNote>
      ) : list.isPending ? (
        <div className={grid} aria-busy="true">
          {Array.from({ length: 8 }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity.
            <AssetCardSkeleton key={index} />
          ))}
        </div>
      ) : assets.length === 0 ? (
        counts?.all === 0 && !q ? (
          <EmptyLibrary mayUpload={mayUpload} />
        ) : (
          <NothingFound filter={filter} q={q} />
        )
      ) : (
        <ul className={grid}>
          {assets.map((asset) => (
            <li key={asset.id}>
              <AssetCard asset={asset} />
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button
          className="self-center"
          onClick={() => list.fetchNextPage()}
          disabled={list.isFetchingNextPage}
        >
          {list.isFetchingNextPage ? "Loading more" : "Show more"}
        </Button>
      )}
    </div>
  );
}

const parseFilter = (value: string | null): AssetFilter =>
  assetFilters.find((filter) => filter === value) ?? "all";
