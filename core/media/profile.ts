/** Encoding profiles as data: a named, versioned set of rules. A published name never changes its meaning. */
import type { H264Profile } from "./h264-level.ts";

/** One step of the ladder: a picture that fits a 16:9 box (or 9:16) with this short side. */
export interface Rung {
  readonly name: string;
  readonly shortSidePx: number;
  /** x264's constant rate factor: the quality wanted; `maxRateBps` caps what it may cost. */
  readonly crf: number;
  /** Cap of the video's bit rate at the rung's full size, held over a buffer of two seconds. */
  readonly maxRateBps: number;
  readonly h264Profile: H264Profile;
}

export interface EncodingProfile {
  readonly name: string;
  /** Smallest first. */
  readonly rungs: readonly [Rung, ...Rung[]];
  readonly segmentSeconds: number;
  /** Divides `segmentSeconds`, so that every segment begins with a keyframe. */
  readonly keyframeSeconds: number;
  readonly frameRateMax: number;
  readonly audio: {
    readonly bitRateBps: number;
    readonly sampleRateHz: number;
    readonly channels: number;
  };
  /**
   * Films longer than `aboveSeconds` are encoded in windows of `seconds` (a whole number of segments, and at most
   * sixty pictures of the storyboard), so that a retry need not begin anew.
   */
  readonly windows: { readonly aboveSeconds: number; readonly seconds: number };
  readonly limits: { readonly durationSecondsMax: number };
}

const baseRungs = [
  { name: "240p", shortSidePx: 240, crf: 24, maxRateBps: 400_000, h264Profile: "main" },
  { name: "360p", shortSidePx: 360, crf: 23, maxRateBps: 900_000, h264Profile: "main" },
  { name: "480p", shortSidePx: 480, crf: 23, maxRateBps: 1_600_000, h264Profile: "high" },
  { name: "720p", shortSidePx: 720, crf: 23, maxRateBps: 3_200_000, h264Profile: "high" },
  { name: "1080p", shortSidePx: 1080, crf: 23, maxRateBps: 6_000_000, h264Profile: "high" },
] as const satisfies readonly Rung[];

const hlsTs = {
  segmentSeconds: 6,
  keyframeSeconds: 2,
  frameRateMax: 60,
  audio: { bitRateBps: 128_000, sampleRateHz: 48_000, channels: 2 },
  windows: { aboveSeconds: 1200, seconds: 600 },
  limits: { durationSecondsMax: 12 * 3600 },
} as const;

/** H.264 and AAC in MPEG-TS up to 1080p: plays on everything that knows HLS. The default. */
export const hlsTsV1: EncodingProfile = { ...hlsTs, name: "hls-ts-v1", rungs: baseRungs };

/** The same with 1440p and 2160p, which cost several times as much to encode and to store. */
export const hlsTsUhdV1: EncodingProfile = {
  ...hlsTs,
  name: "hls-ts-uhd-v1",
  rungs: [
    ...baseRungs,
    { name: "1440p", shortSidePx: 1440, crf: 23, maxRateBps: 10_000_000, h264Profile: "high" },
    { name: "2160p", shortSidePx: 2160, crf: 23, maxRateBps: 20_000_000, h264Profile: "high" },
  ],
};

/** Three steps instead of five: for four fifths of the work, and less to store. */
export const hlsTsLiteV1: EncodingProfile = {
  ...hlsTs,
  name: "hls-ts-lite-v1",
  rungs: [baseRungs[1], baseRungs[3], baseRungs[4]],
};

const profiles: readonly EncodingProfile[] = [hlsTsV1, hlsTsLiteV1, hlsTsUhdV1];

/** The names that a job or a command may ask for. */
export const profileNames = profiles.map((profile) => profile.name);

/** The profile of that name, or null. */
export const findProfile = (name: string): EncodingProfile | null =>
  profiles.find((profile) => profile.name === name) ?? null;
