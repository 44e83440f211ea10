import type { ReactNode } from "react";

/** Stands where a list would be: why there is nothing, and the way on. */
export function Empty({
  icon,
  title,
  text,
  children,
}: {
  icon: ReactNode;
  title: string;
  text: string;
  children?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center py-20 text-center">
      <div className="mb-4 text-ink-soft [&_svg]:size-5">{icon}</div>
      <h2 className="text-lead font-semibold">{title}</h2>
      <p className="mt-1 text-balance text-ink-soft">{text}</p>
      {children && <div className="mt-6 flex flex-wrap justify-center gap-3">{children}</div>}
    </div>
  );
}
