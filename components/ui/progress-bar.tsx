import { formatPercent } from "@reelkeep/core/words/format";
import { classNames } from "./class-names.ts";

/** How much of something is done, `fraction` from 0 to 1; null while nothing can be measured. */
export function ProgressBar({
  label,
  fraction,
  quiet = false,
  className,
}: {
  label: string;
  fraction: number | null;
  /** Stands still (paused, waiting): no accent. */
  quiet?: boolean;
  className?: string;
}) {
  const percent = fraction === null ? null : Math.floor(Math.min(Math.max(fraction, 0), 1) * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent === null
        ? {}
        : { "aria-valuenow": percent, "aria-valuetext": formatPercent(fraction ?? 0) })}
      className={classNames("h-1 w-full overflow-hidden rounded-full bg-line", className)}
    >
      <div
        className={classNames(
          "h-full rounded-full transition-[width]",
          quiet ? "bg-ink-soft" : "bg-progress",
          percent === null && "w-full animate-breathe opacity-40",
        )}
        style={percent === null ? undefined : { width: `${percent}%` }}
      />
    </div>
  );
}
