import type { VideoContainer } from "./signature.ts";

/** What a cheap look into the container told; null where it can't tell, and ffprobe will decide. */
export interface ContainerFacts {
  readonly durationSeconds: number | null;
  /** As displayed, after rotation and in square pixels. */
  readonly width: number | null;
  readonly height: number | null;
  /** False only where the container lists its tracks and none is a picture. */
  readonly hasVideo: boolean | null;
}

/** The answer of a look that learnt nothing. */
export const unknownFacts: ContainerFacts = {
  durationSeconds: null,
  width: null,
  height: null,
  hasVideo: null,
};

const legible: readonly VideoContainer[] = ["mp4", "matroska", "mpeg-ts"];

/** Whether a look (`read-container.ts`) can tell enough of such a container to refuse by it; the others are ffprobe's. */
export const isLegible = (container: VideoContainer): boolean => legible.includes(container);
