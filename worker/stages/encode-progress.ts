/** How far encoding is, over all of its passes. */
import type { FfmpegProgress } from "../ffmpeg/progress.ts";
import type { Pass } from "./passes.ts";
import type { EncodePlan } from "./plan.ts";

/** Every number only grows. */
export interface EncodeProgress {
  readonly secondsDone: number;
  readonly secondsTotal: number;
  /** Seconds of each rendition (and of each sound's folder) that lie in storage. */
  readonly renditions: readonly { readonly name: string; readonly secondsDone: number }[];
}

/** What sound alone is of the work, where it comes first. */
const beforeShare = 0.03;

export interface ProgressTracker {
  encoded(pass: Pass, progress: FfmpegProgress): void;
  stored(segment: { readonly folder: string; readonly durationSeconds: number }): void;
  /** An earlier attempt did this one. */
  skip(pass: Pass): void;
}

export function trackProgress(
  plan: EncodePlan,
  passes: readonly Pass[],
  onProgress: ((progress: EncodeProgress) => void) | undefined,
): ProgressTracker {
  const secondsTotal = plan.expectedSeconds;
  const hasBefore = passes.length > 1 && passes[0]!.window === null;
  const folders = [...plan.renditions.map(({ name }) => name), ...plan.sounds.map(({ folder }) => folder)];
  const storedSeconds = new Map(folders.map((name) => [name, 0]));
  let secondsDone = 0;
  const furthest = new Map<Pass, { seconds: number; frame: number }>();
  const tell = () =>
    onProgress?.({
      secondsDone,
      secondsTotal,
      renditions: folders.map((name) => ({ name, secondsDone: storedSeconds.get(name)! })),
    });
  /** Of the whole work, from how far a pass is on the film's own time line. */
  const reach = (pass: Pass, seconds: number) => {
    const share = secondsTotal > 0 ? Math.min(1, seconds / secondsTotal) : 0;
    const whole = !hasBefore
      ? share
      : pass.window === null
        ? beforeShare * share
        : beforeShare + (1 - beforeShare) * share;
    secondsDone = Math.max(secondsDone, whole * secondsTotal);
  };
  return {
    encoded(pass, { outTimeSeconds, frame }) {
      const before = furthest.get(pass) ?? { seconds: 0, frame: 0 };
      const now = {
        seconds: Math.max(before.seconds, outTimeSeconds ?? 0),
        frame: Math.max(before.frame, frame ?? 0),
      };
      furthest.set(pass, now);
      reach(pass, now.seconds);
      if (now.seconds > before.seconds || now.frame > before.frame) tell();
    },
    stored({ folder, durationSeconds }) {
      storedSeconds.set(folder, Math.min(secondsTotal, storedSeconds.get(folder)! + durationSeconds));
      tell();
    },
    skip(pass) {
      reach(pass, pass.window?.endSeconds ?? secondsTotal);
      tell();
    },
  };
}
