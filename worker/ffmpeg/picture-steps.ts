/** Filters between a decoded frame, whatever its shape, colours and fields, and the picture that we encode. */
import type { Size } from "@reelkeep/core/media/displayed-size";
import type { VideoProbe } from "../stages/describe-video.ts";

/** A link of a filter chain, e.g. `setsar=1`. */
export type Step = string;

/** From a decoded frame to an upright, opaque SDR picture of `size` in square pixels; also used for the poster. */
export function pictureSteps(video: VideoProbe, size: Size): Step[] {
  return [
    ...deinterlaceSteps(video),
    ...opaqueSteps(video),
    ...colorSteps(video, unrotated(video, size)),
    ...turnSteps(video),
    "setsar=1",
    "format=yuv420p",
    taggedBt709,
  ];
}

/** What players assume, and what the stream then says. */
export const taggedBt709 = "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709";

/** Whether nothing has to be done to a picture but to scale and to turn it. */
export const isPlainPicture = (video: VideoProbe): boolean =>
  !video.isInterlaced &&
  !video.hdr &&
  !video.isFullRange &&
  !isWideGamut(video.colorPrimaries) &&
  swscaleMatrix(video) === "bt709" &&
  opaqueSteps(video).length === 0;

/** Those whose frames say one by one whether they are interlaced: broadcasts and edits mix both. */
const mixingCodecs: readonly string[] = ["h264", "mpeg2video", "vc1", "mpeg4"];
/** The filter looks a few lines up and down. */
const deinterlacedSideMin = 16;

/** Only frames that are marked as interlaced are changed; the others pass untouched, at no cost. */
function deinterlaceSteps({ isInterlaced, codec, pixelFormat, coded }: VideoProbe): Step[] {
  const mayTurnInterlaced = mixingCodecs.includes(codec) && /^yuvj?4/.test(pixelFormat ?? "");
  const isLargeEnough = Math.min(coded.width, coded.height) >= deinterlacedSideMin;
  return isLargeEnough && (isInterlaced || mayTurnInterlaced)
    ? ["bwdif=mode=send_frame:parity=auto:deint=interlaced"]
    : [];
}

/** What is transparent becomes black; without this, whatever colour lies beneath would appear. */
function opaqueSteps(video: VideoProbe): Step[] {
  if (!/^(yuva|gbrap|rgba|bgra|argb|abgr|ayuv|ya|pal8)/.test(video.pixelFormat ?? "")) return [];
  return [
    `scale=in_range=${swscaleRange(video)}:in_color_matrix=${swscaleMatrix(video)}`,
    "format=gbrap",
    "premultiply=inplace=1",
    "format=gbrp",
  ];
}

/** The size before the picture is turned upright. */
export const unrotated = ({ rotation }: VideoProbe, { width, height }: Size): Size =>
  rotation === 90 || rotation === 270 ? { width: height, height: width } : { width, height };

/** Turned after scaling, when there are fewer pixels to move. */
export function turnSteps({ isMirrored, rotation }: VideoProbe): Step[] {
  const mirror = isMirrored ? ["vflip"] : [];
  switch (rotation) {
    case 0:
      return mirror;
    case 90:
      return [...mirror, "transpose=clock"];
    case 180:
      return [...mirror, "hflip", "vflip"];
    case 270:
      return [...mirror, "transpose=cclock"];
  }
}

/** To `size` in limited BT.709, which is what players assume. */
function colorSteps(video: VideoProbe, size: Size): Step[] {
  const scale = `scale=${size.width}:${size.height}:flags=bicubic`;
  if (video.hdr) return [scale, ...toneMapSteps(video)];
  const needsZscale =
    isWideGamut(video.colorPrimaries) || (video.colorMatrix === "ycgco" && !isRgb(video.pixelFormat));
  if (needsZscale)
    return [scale, `zscale=transferin=bt709:${zscaleInput(video)}:transfer=bt709:primaries=bt709:${limited}`];
  const input = `in_range=${swscaleRange(video)}:in_color_matrix=${swscaleMatrix(video)}`;
  return [`${scale}:${input}:out_range=tv:out_color_matrix=bt709`];
}

/**
 * The luminance, in cd/m², that tone mapping takes for 1. The customary 100 darkens: greys of 10 and 50 cd/m² become
 * luma 73 and 122, where BT.2390's curve towards an SDR white of 203 cd/m² (BT.2408) has 78 and 138; with 75 they are
 * 78 and 131, and what fills the screen stays within 8 % of either. Smaller values lift shadows above the source's.
 */
const unitNits = 75;

/** Through linear light; hable keeps highlights apart without clipping, and hues by scaling all three alike. */
function toneMapSteps(video: VideoProbe): Step[] {
  const transfer = video.hdr === "pq" ? "smpte2084" : "arib-std-b67";
  return [
    // Primaries on both sides: zscale fails where it has to guess one of them.
    `zscale=transferin=${transfer}:${zscaleInput(video)}:transfer=linear:primaries=bt709:npl=${unitNits}`,
    "format=gbrpf32le",
    `tonemap=tonemap=hable:desat=0:peak=${(video.peakNits / unitNits).toFixed(3)}`,
    `zscale=transfer=bt709:primaries=bt709:${limited}`,
  ];
}

const limited = "matrix=bt709:range=limited";

/** Primaries that reach far beyond BT.709's; the older standards' lie too near to be worth another filter. */
const isWideGamut = (primaries: string | null): boolean =>
  ["bt2020", "smpte431", "smpte432"].includes(primaries ?? "");

const isRgb = (pixelFormat: string | null): boolean =>
  /^(gbr|rgb|bgr|argb|abgr|0rgb|0bgr|pal8|x2)/.test(pixelFormat ?? "");

/** What zscale is to take its input for, whatever the frames say. */
function zscaleInput(video: VideoProbe): string {
  const { colorMatrix, colorPrimaries, pixelFormat, isFullRange } = video;
  const isOpaqued = opaqueSteps(video).length > 0;
  const fallbackPrimaries = video.hdr ? "bt2020" : "bt709";
  const primaries = zscalePrimaries.includes(colorPrimaries ?? "") ? colorPrimaries! : fallbackPrimaries;
  const fallbackMatrix = primaries === "bt2020" ? "bt2020nc" : "bt709";
  const matrix = zscaleMatrices.includes(colorMatrix ?? "") ? colorMatrix : fallbackMatrix;
  return isRgb(pixelFormat) || isOpaqued
    ? `primariesin=${primaries}:matrixin=gbr:rangein=full`
    : `primariesin=${primaries}:matrixin=${matrix}:rangein=${isFullRange ? "full" : "limited"}`;
}

const zscalePrimaries: readonly string[] = ["bt709", "bt2020", "smpte431", "smpte432"];
const zscaleMatrices: readonly string[] = [
  ...["bt709", "fcc", "bt470bg", "smpte170m", "ycgco", "bt2020nc", "bt2020c", "ictcp"],
];

const swscaleRange = ({ isFullRange }: VideoProbe): string => (isFullRange ? "pc" : "auto");

/** As swscale names it. Unmarked video is BT.709 from HD upwards and BT.601 below, as players guess. */
function swscaleMatrix({ colorMatrix, coded }: VideoProbe): string {
  switch (colorMatrix) {
    case "bt709":
      return "bt709";
    case "smpte170m":
    case "bt470bg":
    case "fcc":
      return "bt601";
    case "smpte240m":
      return "smpte240m";
    case "bt2020nc":
    case "bt2020c":
      return "bt2020";
    default:
      return coded.width >= 1280 || coded.height >= 720 ? "bt709" : "bt601";
  }
}
