/** How a run makes its pictures: on the processor, or on one of NVIDIA's cards. Data, and the words that follow of it. */
import type { LadderRendition } from "@reelkeep/core/media/ladder";
import type { VideoProbe } from "../stages/describe-video.ts";
import type { EncoderPreset } from "./args.ts";
import type { CardFormat } from "./card-steps.ts";
import { cudaDecoding, type GpuAbilities } from "./gpu.ts";

/** An option of an encoder, without the stream that it belongs to. */
export type EncoderOption = readonly [name: string, value: string | number];

export interface EncoderEngine {
  /** As it is recorded with what it made. */
  readonly processor: "ffmpeg-cpu" | "ffmpeg-nvenc";
  /** Whether pictures are encoded from the card's memory, and stay there from the decoder on where that is possible. */
  readonly usesCard: boolean;
  readonly encoder: "libx264" | "h264_nvenc";
  /** What x264's speeds are called here. */
  readonly presets: Readonly<Record<EncoderPreset, string>>;
  /** States the quality wanted. Both count from 0, the best, to 51. */
  readonly qualityOption: "crf" | "cq";
  /** The same for every rendition. Keyframes are where they are forced and nowhere else, and closed. */
  readonly options: readonly EncoderOption[];
}

/** Keyframes of the encoder's own choice come never. */
const noOwnKeyframes: EncoderOption = ["g", 100_000];
/** The playlist says that there are no captions inside the picture. */
const noCaptions: EncoderOption = ["a53cc", 0];

export const cpuEngine: EncoderEngine = {
  processor: "ffmpeg-cpu",
  usesCard: false,
  encoder: "libx264",
  presets: {
    superfast: "superfast",
    veryfast: "veryfast",
    faster: "faster",
    fast: "fast",
    medium: "medium",
    slow: "slow",
  },
  qualityOption: "crf",
  options: [["sc_threshold", 0], noOwnKeyframes, noCaptions],
};

/**
 * The names of the options are FFmpeg's, libavcodec/nvenc_h264.c. `b` is zero because its default of 200 kb/s would
 * be the average wanted, whatever the quality. Not measured on a card yet: which preset and which `cq` come closest to
 * x264's; the cap holds either way.
 */
export const nvencEngine: EncoderEngine = {
  processor: "ffmpeg-nvenc",
  usesCard: true,
  encoder: "h264_nvenc",
  presets: { superfast: "p2", veryfast: "p4", faster: "p4", fast: "p5", medium: "p5", slow: "p6" },
  qualityOption: "cq",
  options: [
    ...([
      ["tune", "hq"],
      ["rc", "vbr"],
      ["b", 0],
    ] as const),
    // Forced keyframes would be I-frames that later frames may look past; and a cut in the film needs none.
    ...([
      ["forced-idr", 1],
      ["no-scenecut", 1],
    ] as const),
    noOwnKeyframes,
    noCaptions,
  ],
};

/** A card is worth its way only if it does all three: pictures that travel between them cost more than they save. */
export const engineFor = ({ nvdec, scaleCuda, nvenc }: GpuAbilities): EncoderEngine =>
  [nvdec, scaleCuda, nvenc].every((ability) => ability === "works") ? nvencEngine : cpuEngine;

/** All options of one rendition's encoder: quality, held below a cap over two seconds. */
export const encoderOptions = (
  engine: EncoderEngine,
  rendition: Pick<LadderRendition, "crf" | "maxRateBps" | "h264Profile" | "h264LevelIdc">,
  { preset, reordersFrames }: { readonly preset: EncoderPreset; readonly reordersFrames: boolean },
): EncoderOption[] => [
  ["c", engine.encoder],
  ["preset", engine.presets[preset]],
  ...engine.options,
  ...(reordersFrames ? [] : [["bf", 0] as const]),
  [engine.qualityOption, rendition.crf],
  ["maxrate", rendition.maxRateBps],
  ["bufsize", rendition.maxRateBps * 2],
  ["profile", rendition.h264Profile],
  ["level", (rendition.h264LevelIdc / 10).toFixed(1)],
];

/** Pictures that filters hold on to, beside those that the decoder needs itself. */
const heldPictures = 16;

/** The options before an input whose picture is decoded. */
export const decodingArgs = (engine: EncoderEngine, video: VideoProbe): string[] =>
  cardFormatOf(engine, video) === null ? [] : [...cudaDecoding, "-extra_hw_frames", String(heldPictures)];

/**
 * Codecs that NVDEC takes in 4:2:0, and how many bits of each. A card that lacks one of them refuses the run, and it is
 * made on the processor. https://developer.nvidia.com/video-encode-decode-support-matrix
 */
const decodableBits: Readonly<Record<string, readonly (8 | 10)[]>> = {
  h264: [8],
  hevc: [8, 10],
  av1: [8, 10],
  vp9: [8, 10],
  vp8: [8],
  mpeg2video: [8],
  vc1: [8],
};

/** How the decoder leaves this picture in the card's memory; null where it is decoded in ours. */
export function cardFormatOf(
  engine: EncoderEngine,
  { codec, pixelFormat }: Pick<VideoProbe, "codec" | "pixelFormat">,
): CardFormat | null {
  const bits = engine.usesCard ? (decodableBits[codec] ?? []) : [];
  if (/^yuvj?420p$/.test(pixelFormat ?? "") && bits.includes(8)) return "nv12";
  if (pixelFormat === "yuv420p10le" && bits.includes(10)) return "p010le";
  return null;
}
