import type { RenditionProgress } from "@reelkeep/core/api/media";
import type { Stage } from "@reelkeep/core/job/attempt-machine";
import type { Progress } from "@reelkeep/db/jobs";
import type { EncodeProgress } from "./stages/encode-progress.ts";
import type { EncodePlan } from "./stages/plan.ts";
import type { CompleteRendition } from "./stages/verify.ts";

/** How much of the whole each stage is, by what was seen: encoding is nearly all of it. */
const spans: Record<Stage, readonly [number, number]> = {
  claim: [0, 0],
  download: [0, 0.05],
  probe: [0.05, 0.05],
  plan: [0.05, 0.05],
  encode: [0.05, 0.95],
  verify: [0.95, 0.98],
  publish: [0.98, 1],
};

/** Collects what the stages tell into the one picture that heartbeats carry. */
export interface ProgressReport {
  stage(stage: Stage): void;
  plan(plan: EncodePlan): void;
  encoded(progress: EncodeProgress): void;
  /** The rendition is whole in storage; `playlistKey` is relative to the bucket. */
  complete(rendition: Pick<CompleteRendition, "kind" | "name">, playlistKey: string): void;
  readonly current: Progress;
}

/** `tell` gets every new picture; it is the heartbeat's business how often one travels. */
export function reportProgress(tell: (progress: Progress) => void): ProgressReport {
  let current: Progress = { stage: "claim", fraction: 0, renditions: [], processByResolution: {} };
  const change = (part: Partial<Progress>) => {
    current = { ...current, ...part, fraction: Math.max(current.fraction, part.fraction ?? 0) };
    tell(current);
  };
  const changeRenditions = (
    map: (rendition: RenditionProgress) => RenditionProgress,
    part: Partial<Progress> = {},
  ) => change({ ...part, renditions: current.renditions.map(map) });
  return {
    get current() {
      return current;
    },
    stage: (stage) => change({ stage, fraction: spans[stage][0] }),
    plan: (plan) =>
      change({
        renditions: plan.renditions
          .map(({ name, width, height }) => ({ name, width, height, fraction: 0, complete: false }))
          .reverse(),
      }),
    encoded({ secondsDone, secondsTotal, renditions }) {
      const [from, to] = spans.encode;
      const share = (seconds: number) => (secondsTotal > 0 ? Math.min(1, seconds / secondsTotal) : 0);
      const done = new Map(renditions.map((rendition) => [rendition.name, share(rendition.secondsDone)]));
      changeRenditions(
        (rendition) => ({
          ...rendition,
          fraction: Math.max(rendition.fraction, done.get(rendition.name) ?? 0),
        }),
        { fraction: from + (to - from) * share(secondsDone) },
      );
    },
    complete({ kind, name }, playlistKey) {
      // Sound and subtitles belong to every rendition and are shown as none.
      if (kind !== "picture") return;
      changeRenditions(
        (rendition) => (rendition.name === name ? { ...rendition, fraction: 1, complete: true } : rendition),
        { processByResolution: { ...current.processByResolution, [name]: playlistKey } },
      );
    },
  };
}
