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
  /** How long the first picture stands before its time, because the sound begins long before it. */
  readonly holdFirstSeconds: number;
  /** How long the last picture stands after its time, because the sound goes on. */
  readonly holdLastSeconds: number;
  /**
   * Whether the encoder may store frames in another order than they are shown. It then begins a few frames' time
   * later, which is nothing at a steady rate and seconds where frames are far apart.
   */
  readonly reordersFrames: boolean;
  readonly expectedSeconds: number;
  /** Where to look for a poster. */
  readonly posterAtSeconds: number;
}

/** Rates that a clock in whole milliseconds makes of 60 fps still count as 60. */
const frameRateTolerance = 1.03;
const fallbackFrameRate = 30;
const reorderFrameRateMin = 10;
/** Smaller differences between sound and picture are kept as they are. */
const gapSecondsMax = 0.5;

export function planEncode(probe: SourceProbe, profile: EncodingProfile): EncodePlan {
  const frameRate = statedFrameRate(probe.video, profile.frameRateMax);
  const audio = probe.audio[0];
  const { holdFirstSeconds, holdLastSeconds } = holds(probe, profile.frameRateMax);
  return {
    profile: profile.name,
    video: probe.video,
    renditions: planLadder(probe.video.displayed, frameRate, profile),
    audio: audio ? { streamIndex: audio.index, language: audio.language, ...profile.audio } : null,
    segmentSeconds: profile.segmentSeconds,
    keyframeSeconds: profile.keyframeSeconds,
    frameRate,
    frameRateCap: mayExceed(probe.video, profile.frameRateMax) ? profile.frameRateMax : null,
    holdFirstSeconds,
    holdLastSeconds,
    reordersFrames:
      (probe.video.isInterlaced || hasRealClock(probe.video)) && frameRate >= reorderFrameRateMin,
    expectedSeconds: holdFirstSeconds + probe.durationSeconds + holdLastSeconds,
    posterAtSeconds: Math.min(1, probe.durationSeconds * 0.1),
  };
}

/**
 * Where sound plays without a picture, the nearest picture stands. Repeating it needs a clock that is a possible
 * frame rate; a clock that is finer (some varying rates) would make thousands of frames.
 */
function holds({ audio, video, durationSeconds }: SourceProbe, frameRateMax: number) {
  const sound = audio[0];
  const canRepeat = (video.frameRateBase ?? 0) <= frameRateMax * frameRateTolerance;
  if (!sound || !canRepeat) return { holdFirstSeconds: 0, holdLastSeconds: 0 };
  const relevant = (seconds: number) => (seconds > gapSecondsMax ? seconds : 0);
  const soundSeconds = sound.endSeconds ?? 0;
  return {
    holdFirstSeconds: relevant(video.lateSeconds),
    holdLastSeconds: relevant(soundSeconds - video.lateSeconds - durationSeconds),
  };
}

/**
 * The clock's rate where it is a real one (video of 30 fps with dropped frames averages less), the average where
 * the clock is finer than the frames, as with a varying rate or with fields.
 */
function statedFrameRate(video: VideoProbe, max: number): number {
  const average = video.frameRate ?? video.frameRateBase ?? fallbackFrameRate;
  return Math.min(max, hasRealClock(video) ? (video.frameRateBase ?? average) : average);
}

/** Whether the clock's rate is the frames' own; fields and some varying rates have a finer one. */
const hasRealClock = ({ frameRate, frameRateBase, isInterlaced }: VideoProbe): boolean =>
  !isInterlaced && frameRateBase !== null && frameRateBase <= (frameRate ?? frameRateBase) * 1.5;

const mayExceed = ({ frameRate, frameRateBase }: VideoProbe, max: number): boolean =>
  Math.max(frameRate ?? 0, frameRateBase ?? 0) > max * frameRateTolerance;
