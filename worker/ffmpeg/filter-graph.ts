/** The filter graph of one run, built from small named steps: one decode feeds every rendition (M5). */
import type { Size } from "@reelkeep/core/media/displayed-size";
import type { EncodePlan } from "../stages/plan.ts";
import type { VideoProbe } from "../stages/probe.ts";

/** A link of a filter chain, e.g. `setsar=1`. */
type Step = string;

/** Names of the graph's outputs. */
export const videoPad = (index: number): string => `[v${index}]`;
export const audioPad = "[sound]";

/**
 * The whole graph: the source is made upright SDR in square pixels at the top rendition's size, and each smaller
 * rendition is scaled from the one above it.
 */
export function filterGraph(plan: EncodePlan): string {
  const top = plan.renditions[0]!;
  const chains: string[] = [];
  let input = `[0:${plan.video.index}]`;
  let steps = [...timeSteps(plan), ...pictureSteps(plan.video, top), ...holdSteps(plan)];
  plan.renditions.forEach((rendition, index) => {
    if (index > 0) steps = shrinkSteps(rendition);
    const isLast = index === plan.renditions.length - 1;
    const outputs = isLast ? videoPad(index) : `,split=2${videoPad(index)}[next${index}]`;
    chains.push(`${input}${steps.join(",")}${outputs}`);
    input = `[next${index}]`;
  });
  if (plan.audio) chains.push(`[0:${plan.audio.streamIndex}]${soundSteps(plan.audio).join(",")}${audioPad}`);
  return chains.join(";");
}

/** From a decoded frame to an upright SDR picture of `size` in square pixels; also used for the poster. */
export function pictureSteps(video: VideoProbe, size: Size): Step[] {
  return [
    ...deinterlaceSteps(video),
    ...(video.hdr ? hdrScaleSteps(video, size) : sdrScaleSteps(video, size)),
    ...rotateSteps(video),
    "setsar=1",
    "format=yuv420p",
    "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709",
  ];
}

/** With sound, both streams keep their distance in time; alone, the picture starts at zero. */
function timeSteps({ audio, frameRateCap, holdFirstSeconds }: EncodePlan): Step[] {
  return [
    ...(audio && holdFirstSeconds === 0 ? [] : ["setpts=PTS-STARTPTS"]),
    // Keeps the frames' own times, unlike the fps filter; the tenth leaves room for clocks in milliseconds.
    ...(frameRateCap === null
      ? []
      : [`select='isnan(prev_selected_t)+gte(t-prev_selected_t,${(0.93 / frameRateCap).toFixed(6)})'`]),
  ];
}

/** Repeats the first picture before its time and the last one after it. */
function holdSteps({ holdFirstSeconds, holdLastSeconds }: EncodePlan): Step[] {
  const options = [
    ...(holdFirstSeconds > 0 ? [`start_mode=clone:start_duration=${holdFirstSeconds.toFixed(3)}`] : []),
    ...(holdLastSeconds > 0 ? [`stop_mode=clone:stop_duration=${holdLastSeconds.toFixed(3)}`] : []),
  ];
  return options.length > 0 ? [`tpad=${options.join(":")}`] : [];
}

const deinterlaceSteps = (video: VideoProbe): Step[] =>
  video.isInterlaced ? ["bwdif=mode=send_frame:parity=auto:deint=interlaced"] : [];

/** The size before the picture is turned upright. */
const unrotated = ({ rotation }: VideoProbe, { width, height }: Size): Size =>
  rotation === 90 || rotation === 270 ? { width: height, height: width } : { width, height };

/** Turned after scaling, when there are fewer pixels to move. */
function rotateSteps({ rotation }: VideoProbe): Step[] {
  switch (rotation) {
    case 0:
      return [];
    case 90:
      return ["transpose=clock"];
    case 180:
      return ["hflip", "vflip"];
    case 270:
      return ["transpose=cclock"];
  }
}

/** Full range becomes limited, and every matrix BT.709, which is what players assume. */
function sdrScaleSteps(video: VideoProbe, size: Size): Step[] {
  const { width, height } = unrotated(video, size);
  const range = video.isFullRange ? "pc" : "auto";
  const colors = `in_range=${range}:out_range=tv:in_color_matrix=${matrixOf(video)}:out_color_matrix=bt709`;
  return [`scale=${width}:${height}:flags=bicubic:${colors}`];
}

/** Scaled in its own colours, then through linear light to BT.709 (hable keeps highlights without clipping). */
function hdrScaleSteps(video: VideoProbe, size: Size): Step[] {
  const { width, height } = unrotated(video, size);
  const transfer = video.hdr === "pq" ? "smpte2084" : "arib-std-b67";
  const range = video.isFullRange ? "full" : "limited";
  return [
    `scale=${width}:${height}:flags=bicubic`,
    `zscale=transferin=${transfer}:primariesin=bt2020:matrixin=bt2020nc:rangein=${range}:transfer=linear:npl=100`,
    "format=gbrpf32le",
    "zscale=primaries=bt709",
    "tonemap=tonemap=hable:desat=0",
    "zscale=transfer=bt709:matrix=bt709:range=limited",
  ];
}

/** As swscale names it. Unmarked video is BT.709 from HD upwards and BT.601 below, as players guess. */
function matrixOf({ colorMatrix, coded }: VideoProbe): string {
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

/** Scaling changes the pixel's shape by the rounding of sides, so it is set again. */
const shrinkSteps = ({ width, height }: Size): Step[] => [
  `scale=${width}:${height}:flags=bicubic`,
  "setsar=1",
];

/** Silence fills gaps and a late start, so that sound and picture stay together to the end. */
const soundSteps = ({ sampleRateHz, channels }: { sampleRateHz: number; channels: number }): Step[] => [
  "aresample=async=1:first_pts=0",
  `aformat=sample_rates=${sampleRateHz}:channel_layouts=${channels === 1 ? "mono" : "stereo"}`,
];
