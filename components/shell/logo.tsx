/** A film's first frame held by a bar: kept, and ready to play. */
export const LogoMark = ({ className }: { className?: string }) => (
  <svg viewBox="0 0 20 20" aria-hidden className={className}>
    <path d="M2.5 2h3v16h-3z" fill="currentColor" />
    <path
      d="M8 3.4v13.2c0 .9 1 1.4 1.7.9l9-6.6c.6-.4.6-1.3 0-1.7l-9-6.7c-.7-.5-1.7 0-1.7.9z"
      fill="var(--accent)"
    />
  </svg>
);

export const Logo = () => (
  <span className="inline-flex items-center gap-2 text-lead font-semibold tracking-tight">
    <LogoMark className="size-5" />
    Reelkeep
  </span>
);
