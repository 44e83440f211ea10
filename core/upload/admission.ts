/** What admission refuses, as pure functions: the server asks them of what arrived, the browser of what is chosen. */
import { AppError } from "../errors.ts";
import type { ContainerFacts } from "./container-facts.ts";
import type { UploadLimits } from "./policy.ts";
import type { FileSignature, VideoContainer } from "./signature.ts";

/** More pixels than this in one picture are refused: 8K is 33 million. */
export const pixelsMax = 36_000_000;

/** The container of a file that may go on. @throws AppError `not-a-video`, saying what it looks like. */
export function requireVideo(signature: FileSignature): VideoContainer {
  switch (signature.kind) {
    case "video":
      return signature.container;
    case "other":
      throw new AppError("not-a-video", {
        message: `This isn't a video file. It looks like ${signature.name}.`,
        details: { looksLike: signature.name },
      });
    case "unknown":
      throw new AppError("not-a-video", {
        message: "This isn't a video file of a known kind.",
      });
  }
}

/** Refuses what is known to break a limit; null means not known, which isn't refused. */
export function checkVideoFacts(
  facts: ContainerFacts,
  limits: Pick<UploadLimits, "durationSecondsMax">,
): void {
  if (facts.hasVideo === false) throw new AppError("no-video-track");
  if (facts.durationSeconds !== null && facts.durationSeconds > limits.durationSecondsMax)
    throw new AppError("video-too-long", {
      details: { durationSeconds: facts.durationSeconds, durationSecondsMax: limits.durationSecondsMax },
    });
  if (facts.width !== null && facts.height !== null && facts.width * facts.height > pixelsMax)
    throw new AppError("video-too-big", { details: { width: facts.width, height: facts.height, pixelsMax } });
}
