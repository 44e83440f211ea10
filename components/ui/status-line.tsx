import type { StatusIcon, StatusWords, Tone } from "@reelkeep/core/words/status";
import {
  CircleAlert,
  CircleCheck,
  CircleSlash,
  Clock,
  Film,
  LoaderCircle,
  type LucideIcon,
  Pause,
  RotateCw,
  ScanSearch,
  Upload,
  WifiOff,
} from "lucide-react";
import { classNames } from "./class-names.ts";

const icons: Record<StatusIcon, LucideIcon> = {
  sending: Upload,
  "waiting-for-network": WifiOff,
  paused: Pause,
  checking: ScanSearch,
  "in-line": Clock,
  starting: LoaderCircle,
  "trying-again": RotateCw,
  processing: Film,
  ready: CircleCheck,
  failed: CircleAlert,
  stopped: CircleSlash,
};

const colours: Record<Tone, string> = {
  quiet: "text-ink-soft",
  active: "text-ink",
  good: "text-good",
  bad: "text-bad",
};

/** An icon and a word for a state, coloured by its tone. */
export function StatusLabel({ words, className }: { words: StatusWords; className?: string }) {
  const Icon = icons[words.icon];
  return (
    <span
      className={classNames(
        "figures inline-flex items-center gap-1.5 font-medium",
        colours[words.tone],
        className,
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      {words.label}
    </span>
  );
}
