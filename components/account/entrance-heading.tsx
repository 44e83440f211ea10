import type { ReactNode } from "react";

/** What an entrance page is for, in one line and one sentence. */
export const EntranceHeading = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="mb-6">
    <h1 className="text-title font-semibold tracking-tight text-balance">{title}</h1>
    {children && <p className="mt-1 text-balance text-ink-soft">{children}</p>}
  </div>
);
