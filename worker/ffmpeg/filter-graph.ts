/** The filter graph of one run, built from small named steps: one decode feeds every rendition (M5). */
import type { Size } from "@reelkeep/core/media/displayed-size";
import type { VideoProbe } from "../stages/describe-video.ts";
import type { Pass } from "../stages/passes.ts";
import { type EncodePlan, encodedRenditions, type PlannedSound } from "../stages/plan.ts";
import { sheetColumns, sheetRows } from "../stages/plan-storyboard.ts";
import { anywhere, cardScale, inMemory, onCard, type PlacedStep, travel } from "./card-steps.ts";
import { cardFormatOf, type EncoderEngine } from "./engines.ts";
import {
  isPlainPicture,
  pictureSteps,
  type Step,
  taggedBt709,
  turnSteps,
  unrotated,
} from "./picture-steps.ts";
import { soundSteps } from "./sound-steps.ts";

/** Names of the graph's outputs. */
export const videoPad = (folder: string): string => `[${folder}]`;
export const soundPad = (folder: string): string => `[${folder}]`;
export const storyboardPad = "[storyboard]";

/**
 * The graphs of a pass. In one, the source is made upright SDR in square pixels at the largest size that is encoded,
 * each smaller rendition is scaled from the one above it, and the storyboard's pictures are taken from the smallest.
 * Each sound has its own: FFmpeg builds a graph anew when any of its inputs changes its kind.
 */
export const filterGraphs = (plan: EncodePlan, pass: Pass, engine: EncoderEngine): string[] => [
  ...(pass.window ? [pictureChains(plan, pass.window, engine).join(";")] : []),
  ...pass.sounds.filter(({ isCopied }) => !isCopied).map(soundGraph),
];

const soundGraph = ({ streamIndex, source, sampleRateHz, folder }: PlannedSound): string =>
  `[0:${streamIndex}]${soundSteps(source, sampleRateHz).join(",")}${soundPad(folder)}`;

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
  if (cardFormatOf(engine, video) === null || !isPlainPicture(video))
    return inMemory(pictureSteps(video, size));
  return [
    ...onCard([cardScale(unrotated(video, size))]),
    ...inMemory(turnSteps(video)),
    ...anywhere(["setsar=1", taggedBt709]),
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

/** With sound, both streams keep their distance in time; alone, the picture starts at zero. */
function timeSteps(
  { sounds, frameRateCap, holdFirstSeconds, video }: EncodePlan,
  { startSeconds, endSeconds }: NonNullable<Pass["window"]>,
): Step[] {
  // A frame on the cut is the next window's first; times are rounded to microseconds.
  const edge = (name: string, seconds: number | null) =>
    seconds === null || seconds === 0 ? [] : [`${name}=${(seconds - 1e-6).toFixed(6)}`];
  const keepsTime = (sounds.length > 0 && holdFirstSeconds === 0) || video.lateSeconds === 0;
  const trim = [...edge("start", startSeconds), ...edge("end", endSeconds)];
  return [
    ...(trim.length > 0 ? [`trim=${trim.join(":")}`] : []),
    ...(keepsTime ? [] : ["setpts=PTS-STARTPTS"]),
    // Keeps the frames' own times, unlike the fps filter.
    `select='isnan(prev_selected_t)+gte(abs(t-prev_selected_t),${frameGapSeconds(frameRateCap).toFixed(6)})'`,
  ];
}

/** Of frames closer than this one stays. The tenth leaves room for clocks in milliseconds. */
const frameGapSeconds = (frameRateCap: number | null): number =>
  frameRateCap === null ? 0.0009 : 0.93 / frameRateCap;

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

/** Scaling changes the pixel's shape by the rounding of sides, so it is set again. */
const shrinkSteps = ({ width, height }: Size): Step[] => [
  `scale=${width}:${height}:flags=bicubic`,
  "setsar=1",
];
