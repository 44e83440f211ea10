/** What is to be made of a source: decided once, stored with the attempt, followed by every later stage. */
import { type LadderRendition, planLadder } from "@reelkeep/core/media/ladder";
import type { EncodingProfile } from "@reelkeep/core/media/profile";
import type { SourceProbe, VideoProbe } from "./probe.ts";

export interface PlannedAudio {
  readonly streamIndex: number;
  readonly bitRateBps: number;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly language: string | null;
}

/** Plain data: it survives JSON. */
export interface EncodePlan {
  readonly profile: string;
  readonly video: VideoProbe;
  /** Largest first; each is scaled from the one before it. */
  readonly renditions: readonly LadderRendition[];
  /** Null when the source has no sound that can be decoded. */
  readonly audio: PlannedAudio | null;
  readonly segmentSeconds: number;
  readonly keyframeSeconds: number;
  /** Frames per second at most, as the multivariant playlist states it. */
  readonly frameRate: number;
  /** Frames that come faster than this are dropped; null when none do. */
  readonly frameRateCap: number | null;
  readonly expectedSeconds: number;
  /** Where to look for a poster. */
  readonly posterAtSeconds: number;
}

/** Rates that a clock in whole milliseconds makes of 60 fps still count as 60. */
const frameRateTolerance = 1.03;
const fallbackFrameRate = 30;

export function planEncode(probe: SourceProbe, profile: EncodingProfile): EncodePlan {
  const frameRate = statedFrameRate(probe.video, profile.frameRateMax);
  const audio = probe.audio[0];
  return {
    profile: profile.name,
    video: probe.video,
    renditions: planLadder(probe.video.displayed, frameRate, profile),
    audio: audio ? { streamIndex: audio.index, language: audio.language, ...profile.audio } : null,
    segmentSeconds: profile.segmentSeconds,
    keyframeSeconds: profile.keyframeSeconds,
    frameRate,
    frameRateCap: mayExceed(probe.video, profile.frameRateMax) ? profile.frameRateMax : null,
    expectedSeconds: probe.durationSeconds,
    posterAtSeconds: Math.min(1, probe.durationSeconds * 0.1),
  };
}

/**
 * The clock's rate where it is a real one (video of 30 fps with dropped frames averages less), the average where
 * the clock is finer than the frames, as with a varying rate or with fields.
 */
function statedFrameRate({ frameRate, frameRateBase, isInterlaced }: VideoProbe, max: number): number {
  const average = frameRate ?? frameRateBase ?? fallbackFrameRate;
  const isRealClock = !isInterlaced && frameRateBase !== null && frameRateBase <= average * 1.5;
  return Math.min(max, isRealClock ? frameRateBase : average);
}

const mayExceed = ({ frameRate, frameRateBase }: VideoProbe, max: number): boolean =>
  Math.max(frameRate ?? 0, frameRateBase ?? 0) > max * frameRateTolerance;
