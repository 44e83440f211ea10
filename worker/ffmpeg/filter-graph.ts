/** The filter graph of one run, built from small named steps: one decode feeds every rendition (M5). */
import type { Size } from "@reelkeep/core/media/displayed-size";
import type { Pass } from "../stages/passes.ts";
import { type EncodePlan, encodedRenditions, type PlannedSound } from "../stages/plan.ts";
import { sheetColumns, sheetRows } from "../stages/plan-storyboard.ts";
import type { VideoProbe } from "../stages/probe.ts";
import { anywhere, cardScale, inMemory, onCard, type PlacedStep, travel } from "./card-steps.ts";
import { cardFormatOf, type EncoderEngine } from "./engines.ts";

/** A link of a filter chain, e.g. `setsar=1`. */
type Step = string;

/** Names of the graph's outputs. */
export const videoPad = (folder: string): string => `[${folder}]`;
export const soundPad = (folder: string): string => `[${folder}]`;
export const storyboardPad = "[storyboard]";

/**
 * The whole graph of a pass: the source is made upright SDR in square pixels at the largest size that is encoded,
 * each smaller rendition is scaled from the one above it, and the storyboard's pictures are taken from the smallest.
 * Null where everything is taken over as it is.
 */
export function filterGraph(plan: EncodePlan, pass: Pass, engine: EncoderEngine): string | null {
  const chains = pass.window ? pictureChains(plan, pass.window, engine) : [];
  for (const sound of pass.sounds)
    if (!sound.isCopied)
      chains.push(`[0:${sound.streamIndex}]${soundSteps(sound).join(",")}${soundPad(sound.folder)}`);
  return chains.length > 0 ? chains.join(";") : null;
}

function pictureChains(
  plan: EncodePlan,
  window: NonNullable<Pass["window"]>,
  engine: EncoderEngine,
): string[] {
  const chains: string[] = [];
  const encoded = encodedRenditions(plan);
  const encodedPlace = engine.usesCard ? "card" : "memory";
  let input = `[0:${plan.video.index}]`;
  let format = cardFormatOf(engine, plan.video);
  encoded.forEach((rendition, i) => {
    const steps =
      i === 0
        ? [
            ...anywhere(timeSteps(plan, window)),
            ...placedPictureSteps(engine, plan.video, rendition),
            ...inMemory(holdSteps(plan, window)),
          ]
        : placedShrinkSteps(engine, rendition);
    const filters = [...travel(steps, format, encodedPlace), "split=2"];
    chains.push(`${input}${filters.join(",")}${videoPad(rendition.name)}[below${i}]`);
    input = `[below${i}]`;
    format = engine.usesCard ? "yuv420p" : null;
  });
  // Everything is copied: only the storyboard's pictures are decoded.
  const whole =
    encoded.length === 0
      ? [...anywhere(timeSteps(plan, window)), ...inMemory(pictureSteps(plan.video, plan.storyboard.tile))]
      : [];
  const steps = travel([...whole, ...storyboardSteps(plan, window)], format, "memory");
  chains.push(`${input}${steps.join(",")}${storyboardPad}`);
  return chains;
}

/** What a card's filters can't do is done in memory, in the same way as without a card. */
function placedPictureSteps(engine: EncoderEngine, video: VideoProbe, size: Size): PlacedStep[] {
  const isPlain = !video.isInterlaced && !video.hdr && !video.isFullRange && matrixOf(video) === "bt709";
  if (cardFormatOf(engine, video) === null || !isPlain) return inMemory(pictureSteps(video, size));
  return [
    ...onCard([cardScale(unrotated(video, size))]),
    ...inMemory(rotateSteps(video)),
    ...anywhere(["setsar=1", bt709]),
  ];
}

const placedShrinkSteps = (engine: EncoderEngine, size: Size): PlacedStep[] =>
  engine.usesCard ? [...onCard([cardScale(size)]), ...anywhere(["setsar=1"])] : inMemory(shrinkSteps(size));

/** One picture for each step of time, the one that is shown when it begins, joined to sheets. */
function storyboardSteps(
  { storyboard }: EncodePlan,
  { startSeconds }: { startSeconds: number },
): PlacedStep[] {
  const { everySeconds, tile } = storyboard;
  return [
    ...anywhere(startSeconds > 0 ? [`setpts=PTS-${startSeconds.toFixed(6)}/TB`] : []),
    ...anywhere([`fps=fps=1/${everySeconds}:start_time=0:round=up`]),
    ...inMemory([
      `scale=${tile.width}:${tile.height}:flags=area:out_range=pc`,
      `tile=${sheetColumns}x${sheetRows}`,
    ]),
  ];
}

/** From a decoded frame to an upright SDR picture of `size` in square pixels; also used for the poster. */
export function pictureSteps(video: VideoProbe, size: Size): Step[] {
  return [
    ...deinterlaceSteps(video),
    ...alphaSteps(video),
    ...(video.hdr ? hdrScaleSteps(video, size) : sdrScaleSteps(video, size)),
    ...rotateSteps(video),
    "setsar=1",
    "format=yuv420p",
    bt709,
  ];
}

/** What players assume, and what the stream then says. */
const bt709 = "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709";

/** With sound, both streams keep their distance in time; alone, the picture starts at zero. */
function timeSteps(
  { sounds, windows, frameRateCap, holdFirstSeconds }: EncodePlan,
  { startSeconds, endSeconds }: NonNullable<Pass["window"]>,
): Step[] {
  // A frame on the cut is the next window's first; times are rounded to microseconds.
  const edge = (name: string, seconds: number | null) =>
    seconds === null || seconds === 0 ? [] : [`${name}=${(seconds - 1e-6).toFixed(6)}`];
  const trim = [...edge("start", startSeconds), ...edge("end", endSeconds)];
  return [
    ...(trim.length > 0 ? [`trim=${trim.join(":")}`] : []),
    ...((sounds.length > 0 && holdFirstSeconds === 0) || windows.length > 1 ? [] : ["setpts=PTS-STARTPTS"]),
    // Keeps the frames' own times, unlike the fps filter; the tenth leaves room for clocks in milliseconds.
    ...(frameRateCap === null
      ? []
      : [`select='isnan(prev_selected_t)+gte(t-prev_selected_t,${(0.93 / frameRateCap).toFixed(6)})'`]),
  ];
}

/** Repeats the first picture before its time and the last one after it. */
function holdSteps(
  { holdFirstSeconds, holdLastSeconds }: EncodePlan,
  { startSeconds, endSeconds }: NonNullable<Pass["window"]>,
): Step[] {
  const options = [
    ...(holdFirstSeconds > 0 && startSeconds === 0
      ? [`start_mode=clone:start_duration=${holdFirstSeconds.toFixed(3)}`]
      : []),
    ...(holdLastSeconds > 0 && endSeconds === null
      ? [`stop_mode=clone:stop_duration=${holdLastSeconds.toFixed(3)}`]
      : []),
  ];
  return options.length > 0 ? [`tpad=${options.join(":")}`] : [];
}

const deinterlaceSteps = (video: VideoProbe): Step[] =>
  video.isInterlaced ? ["bwdif=mode=send_frame:parity=auto:deint=interlaced"] : [];

/** What can be seen through is black. */
const alphaSteps = ({ pixelFormat }: VideoProbe): Step[] =>
  /^(?:yuva|rgba|bgra|argb|abgr|gbrap|ya|pal8)/.test(pixelFormat ?? "")
    ? ["format=gbrap", "premultiply=inplace=1", "format=gbrp"]
    : [];

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

/**
 * Silence fills gaps and a late start, so that sound and picture stay together to the end. Several channels become
 * two as ITU-R BS.775-3 has it: the centre, where the dialogue is, at -3 dB. That isn't made quieter as a whole, so
 * only where all channels are loud at once a limiter keeps it from clipping.
 */
const soundSteps = (sound: PlannedSound): Step[] => [
  "aresample=async=1:first_pts=0",
  // One channel is heard from both sides as it is; FFmpeg would take 3 dB from each.
  ...(sound.sourceChannels === 1 && sound.channels === 2 ? ["pan=stereo|c0=c0|c1=c0"] : []),
  `aformat=sample_fmts=fltp:sample_rates=${sound.sampleRateHz}:channel_layouts=${sound.channels === 1 ? "mono" : "stereo"}`,
  ...(sound.sourceChannels > sound.channels ? ["alimiter=limit=0.95:level=0:latency=1"] : []),
];
