"use client";
import { Search } from "lucide-react";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useEffect, useRef } from "react";

const pauseMs = 250;

/** Searches the library while one types; "/" jumps here from anywhere. */
export function SearchBox() {
  const router = useRouter();
  const pathname = usePathname();
  const search = useSearchParams();
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<number>(undefined);

  useEffect(() => {
    function focus(event: KeyboardEvent) {
      const typing =
        event.target instanceof HTMLElement && event.target.closest("input, textarea, [contenteditable]");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    }
    window.addEventListener("keydown", focus);
    return () => window.removeEventListener("keydown", focus);
  }, []);

  function go() {
    window.clearTimeout(timer.current);
    const next = new URLSearchParams(pathname === "/" ? search : undefined);
    const q = input.current?.value.trim() ?? "";
    if (q) next.set("q", q);
    else next.delete("q");
    const path = next.size > 0 ? `/?${next}` : "/";
    if (pathname === "/") router.replace(path, { scroll: false });
    else router.push(path);
  }

  return (
    <search className="min-w-0 flex-1 sm:max-w-sm">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          go();
        }}
        className="relative"
      >
        <Search
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-ink-soft"
        />
        <input
          ref={input}
          // A new address (a cleared filter, the way back) brings its own words.
          key={pathname === "/" ? "library" : "elsewhere"}
          type="search"
          name="q"
          aria-label="Search your videos"
          placeholder="Search"
          defaultValue={search.get("q") ?? ""}
          onChange={() => {
            window.clearTimeout(timer.current);
            if (pathname === "/") timer.current = window.setTimeout(go, pauseMs);
          }}
          className="h-9 w-full rounded-md border border-line bg-surface pr-3 pl-9 placeholder:text-ink-soft"
        />
      </form>
    </search>
  );
}
