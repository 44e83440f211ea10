/** What is to be made of a source: decided once, stored with the attempt, followed by every later stage. */
import { type LadderRendition, planLadder } from "@reelkeep/core/media/ladder";
import type { EncodingProfile } from "@reelkeep/core/media/profile";
import { nameTracks } from "@reelkeep/core/media/track-names";
import { soundFolder, subtitlesFolder } from "@reelkeep/core/object-keys";
import type { SoundSource } from "../ffmpeg/sound-steps.ts";
import type { VideoProbe } from "./describe-video.ts";
import { planStoryboard, type StoryboardPlan } from "./plan-storyboard.ts";
import { planWindows, type Window } from "./plan-windows.ts";
import type { AudioProbe, SourceProbe } from "./probe.ts";

/** A track beside the picture, below the version's prefix in its own folder. */
interface PlannedTrack {
  readonly folder: string;
  readonly streamIndex: number;
  /** BCP 47; null when the source doesn't say. */
  readonly language: string | null;
  readonly name: string;
}

export interface PlannedSound extends PlannedTrack {
  readonly bitRateBps: number;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly source: SoundSource;
  /** Whether the source's own stream is taken over without encoding. */
  readonly isCopied: boolean;
}

export interface PlannedSubtitles extends PlannedTrack {
  readonly isForced: boolean;
}

/** The source's own picture, taken over as the largest rendition without encoding. */
export interface CopiedPicture {
  /** How long a segment is at least; it ends at the next keyframe of the source. */
  readonly segmentSeconds: number;
  /** Where segments begin, in the output's time. */
  readonly cutsSeconds: readonly number[];
}

/** Plain data: it survives JSON. */
export interface EncodePlan {
  readonly profile: string;
  readonly video: VideoProbe;
  /** Largest first; each is scaled from the one before it. */
  readonly renditions: readonly LadderRendition[];
  /** Null: every rendition is encoded. */
  readonly copied: CopiedPicture | null;
  /** The first is the default; none when the source has no sound that can be decoded. */
  readonly sounds: readonly PlannedSound[];
  readonly subtitles: readonly PlannedSubtitles[];
  readonly storyboard: StoryboardPlan;
  /** The parts that are encoded one after the other; one for a source that isn't long. */
  readonly windows: readonly Window[];
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
  /** Where to look for posters, the better places first. */
  readonly posterAtSeconds: readonly number[];
}

/** The renditions that are encoded: all but the copied one. */
export const encodedRenditions = (plan: Pick<EncodePlan, "renditions" | "copied">) =>
  plan.copied ? plan.renditions.slice(1) : plan.renditions;

/** Rates that a clock in whole milliseconds makes of 60 fps still count as 60. */
const frameRateTolerance = 1.03;
const fallbackFrameRate = 30;
const reorderFrameRateMin = 10;
/** Smaller differences between sound and picture are kept as they are. */
const gapSecondsMax = 0.5;
/** Tracks beyond these are left out: each costs an encoder or a rendition that nobody looks for. */
const soundsMax = 8;
/** After the first one, near the beginning: parts of the film, those that are tried where others are black last. */
const posterShares = [0.4, 0.7, 0.25, 0.55, 0.85];
const subtitlesMax = 32;

export function planEncode(probe: SourceProbe, profile: EncodingProfile): EncodePlan {
  const frameRate = statedFrameRate(probe.video, profile.frameRateMax);
  const { holdFirstSeconds, holdLastSeconds } = holds(probe, profile.frameRateMax);
  const frameRateCap = mayExceed(probe.video, profile.frameRateMax) ? profile.frameRateMax : null;
  const renditions = planLadder(probe.video.displayed, frameRate, profile);
  const expectedSeconds = holdFirstSeconds + probe.durationSeconds + holdLastSeconds;
  const sounds = planSounds(probe, profile);
  const startSeconds = sounds.length > 0 ? probe.video.lateSeconds : 0;
  // A window knows nothing of the frames before it, which a cap counts from, nor how far a held picture moved the rest.
  const canSplit =
    frameRateCap === null && holdFirstSeconds === 0 && startSeconds === probe.video.lateSeconds;
  return {
    profile: profile.name,
    video: probe.video,
    renditions,
    copied: null,
    sounds,
    subtitles: planSubtitles(probe),
    storyboard: planStoryboard(expectedSeconds, renditions.at(-1)!),
    windows: canSplit
      ? planWindows(probe.container, profile.windows, {
          startSeconds,
          durationSeconds: probe.durationSeconds,
        })
      : [{ startSeconds: 0, endSeconds: null }],
    segmentSeconds: profile.segmentSeconds,
    keyframeSeconds: profile.keyframeSeconds,
    frameRate,
    frameRateCap,
    holdFirstSeconds,
    holdLastSeconds,
    reordersFrames:
      (probe.video.isInterlaced || hasRealClock(probe.video)) && frameRate >= reorderFrameRateMin,
    expectedSeconds,
    posterAtSeconds: [
      Math.min(1, probe.durationSeconds * 0.1),
      ...posterShares.map((share) => probe.durationSeconds * share),
    ],
  };
}

function planSounds({ audio }: SourceProbe, profile: EncodingProfile): PlannedSound[] {
  const tracks = audio.slice(0, soundsMax);
  return nameTracks(tracks, "Sound").map((names, i) => ({
    folder: soundFolder(i + 1),
    streamIndex: tracks[i]!.index,
    ...names,
    ...profile.audio,
    source: soundOf(tracks[i]!),
    isCopied: false,
  }));
}

const soundOf = ({ channels, layout, lateSeconds }: AudioProbe) => ({ channels, layout, lateSeconds });

function planSubtitles({ subtitles }: SourceProbe): PlannedSubtitles[] {
  const tracks = subtitles.slice(0, subtitlesMax);
  return nameTracks(tracks, "Subtitles").map((names, i) => ({
    folder: subtitlesFolder(i + 1),
    streamIndex: tracks[i]!.index,
    ...names,
    isForced: tracks[i]!.isForced,
  }));
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
export const hasRealClock = ({ frameRate, frameRateBase, isInterlaced }: VideoProbe): boolean =>
  !isInterlaced && frameRateBase !== null && frameRateBase <= (frameRate ?? frameRateBase) * 1.5;

const mayExceed = ({ frameRate, frameRateBase }: VideoProbe, max: number): boolean =>
  Math.max(frameRate ?? 0, frameRateBase ?? 0) > max * frameRateTolerance;
