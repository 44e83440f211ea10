/** What FFprobe's answers say of a picture, in our own terms. */
import { displayedSize, type Ratio, type Rotation, type Size } from "@reelkeep/core/media/displayed-size";
import type { FfprobeAnswer, FfprobeFrame, FfprobeStream } from "./ffprobe-json.ts";

/** The source's main picture. Indexes are FFmpeg's stream indexes. */
export interface VideoProbe {
  readonly index: number;
  readonly codec: string;
  /** FFmpeg's decoder to ask for; null for its usual one. */
  readonly decoder: string | null;
  readonly coded: Size;
  readonly pixelAspect: Ratio;
  /** Whether the coded picture is to be turned upside down before it is turned by `rotation`. */
  readonly isMirrored: boolean;
  readonly rotation: Rotation;
  readonly displayed: Size;
  /** Frames per second on average; null when the file doesn't say. */
  readonly frameRate: number | null;
  /** The finest clock that all frames fit; far above `frameRate` where the rate varies. */
  readonly frameRateBase: number | null;
  readonly pixelFormat: string | null;
  readonly isFullRange: boolean;
  /** The YCbCr matrix and the primaries as FFmpeg names them; null when the file doesn't say. */
  readonly colorMatrix: string | null;
  readonly colorPrimaries: string | null;
  /** Perceptual quantizer (HDR10, Dolby Vision) or hybrid log-gamma; null for standard dynamic range. */
  readonly hdr: "pq" | "hlg" | null;
  /** The brightest that an HDR picture gets, in cd/m². */
  readonly peakNits: number;
  /** Whether the first frames are interlaced. Later ones may differ. */
  readonly isInterlaced: boolean;
  /** What the stream itself could be taken over by; see `plan-copy.ts`. Null where nothing speaks for it. */
  readonly h264: H264Facts | null;
  /** How long after the source's beginning the first picture that can be decoded comes. */
  readonly lateSeconds: number;
}

/** An H.264 stream that is plain: progressive, upright, in the colours that players assume. */
export interface H264Facts {
  /** As FFprobe names it, e.g. `High`. */
  readonly profile: string;
  /** 31 is level 3.1. */
  readonly levelIdc: number;
}

/** Frames know better than containers: a bitstream may be HDR below a header that says SDR. */
export function describeVideo(
  { format }: FfprobeAnswer,
  stream: FfprobeStream,
  codec: string,
  coded: Size,
  frames: readonly FfprobeFrame[],
  alphaDecoder: string | null,
): VideoProbe {
  const first = frames[0];
  const pixelAspect = stream.sample_aspect_ratio ?? first?.sample_aspect_ratio ?? { num: 1, den: 1 };
  const rotation = rotationOf(stream);
  const pixelFormat = alphaDecoder ? "yuva420p" : (first?.pix_fmt ?? stream.pix_fmt);
  const transfer = first?.color_transfer ?? stream.color_transfer;
  const hdr = transfer === "smpte2084" ? "pq" : transfer === "arib-std-b67" ? "hlg" : null;
  return {
    index: stream.index,
    codec,
    decoder: alphaDecoder,
    coded,
    pixelAspect,
    isMirrored: isMirrored(stream),
    rotation,
    displayed: displayedSize(coded, pixelAspect, rotation),
    frameRate: perSecond(stream.avg_frame_rate) ?? perSecond(stream.r_frame_rate),
    frameRateBase: perSecond(stream.r_frame_rate),
    pixelFormat,
    isFullRange: (first?.color_range ?? stream.color_range) === "pc" || /^yuvj/.test(pixelFormat ?? ""),
    colorMatrix: first?.color_space ?? stream.color_space,
    colorPrimaries: first?.color_primaries ?? stream.color_primaries,
    hdr,
    peakNits: hdr === "pq" ? pqPeakNits(stream, first) : hlgPeakNits,
    isInterlaced:
      frames.some(({ interlaced_frame }) => interlaced_frame === 1) ||
      ["tt", "bb", "tb", "bt"].includes(stream.field_order ?? ""),
    h264: plainH264(stream, first),
    lateSeconds: Math.max(
      0,
      (first?.best_effort_timestamp_time ?? stream.start_time ?? 0) - (format.start_time ?? 0),
    ),
  };
}

/** Whatever is marked in another way than players assume is left to the encoder. */
function plainH264(stream: FfprobeStream, first: FfprobeFrame | undefined): H264Facts | null {
  const { codec_name, profile, level, closed_captions, field_order, side_data_list } = stream;
  const isMarkedOtherwise = [stream.color_primaries, stream.color_transfer, first?.color_transfer].some(
    (marked) => marked && marked !== "bt709",
  );
  const isPlain =
    codec_name === "h264" &&
    field_order === "progressive" &&
    closed_captions !== 1 &&
    side_data_list.length === 0 &&
    !isMarkedOtherwise;
  return isPlain && profile && level ? { profile, levelIdc: level } : null;
}

/** FFprobe counts anticlockwise; we count clockwise. Angles between are taken to the nearest quarter. */
function rotationOf(stream: FfprobeStream): Rotation {
  const anticlockwise = stream.side_data_list.find(({ rotation }) => rotation !== null)?.rotation ?? 0;
  const quarters = Math.round(-anticlockwise / 90);
  return ((((quarters % 4) + 4) % 4) * 90) as Rotation;
}

/**
 * A display matrix with a negative determinant mirrors, as selfie cameras write it. FFprobe's angle is that of the
 * matrix's first column, so what is left of the matrix is a flip from top to bottom.
 */
function isMirrored({ side_data_list }: FfprobeStream): boolean {
  const text = side_data_list.find(({ displaymatrix }) => displaymatrix !== null)?.displaymatrix ?? "";
  const [a = 1, b = 0, , c = 0, d = 1] = [...text.matchAll(/(?<=\s)-?\d+(?!\d*:)/g)].map(Number);
  return a * d - b * c < 0;
}

const perSecond = (rate: Ratio | null): number | null => rate && rate.num / rate.den;

/** HLG is relative; ITU-R BT.2100 table 5 gives its nominal display 1000 cd/m². */
const hlgPeakNits = 1000;
/** Claims beyond these are taken for these: 10,000 is what an encoder writes that knows nothing. */
const peakNitsRange = { min: 400, max: 4000 };

/** The content's own peak, else its mastering display's, else that of the usual mastering display. */
function pqPeakNits(stream: FfprobeStream, frame: FfprobeFrame | undefined): number {
  const sideData = [...(frame?.side_data_list ?? []), ...stream.side_data_list];
  const first = (read: (data: (typeof sideData)[number]) => number | null) =>
    sideData.map(read).find((nits) => nits !== null && nits > 0);
  const stated = first(({ max_content }) => max_content) ?? first(({ max_luminance }) => max_luminance);
  return Math.min(Math.max(stated ?? 1000, peakNitsRange.min), peakNitsRange.max);
}
