/** Filters between a decoded sound track, whatever its channels, and the stereo that we encode. */
import type { ChannelShape } from "../stages/probe.ts";
import type { Step } from "./picture-steps.ts";

/** What the steps must know of a sound track. */
export interface SoundSource extends ChannelShape {
  /** How long after the source's beginning it begins. */
  readonly lateSeconds: number;
}

/** Of fewer than four frames of AAC, programs that guess a stream's kind make something else. */
const durationSecondsMin = 0.1;
/** Sound that begins later than this gets silence before it. */
const lateSecondsMax = 0.05;

/**
 * To stereo at `sampleRateHz`. Silence fills gaps and a late start, so that sound and picture stay together to the
 * end. The start is filled only where it is late: FFmpeg builds the chain anew when the channels change in
 * mid-stream, and would put all the time until then before it once more.
 */
export const soundSteps = (source: SoundSource, sampleRateHz: number): Step[] => [
  ...mixSteps(source),
  source.lateSeconds > lateSecondsMax ? "aresample=async=1:first_pts=0" : "aresample=async=1",
  `aformat=sample_rates=${sampleRateHz}:channel_layouts=stereo`,
  `apad=whole_dur=${durationSecondsMin}`,
];

/** -3 dB, ITU-R BS.775-3 table 2; swresample's coefficients for the back too. */
const shared = Math.SQRT1_2;
/** Peaks of a sum are pressed below this, so that neither the encoder nor a player clips them. */
const peakMax = 0.95;

/**
 * Mono and stereo keep their level to the last bit. In surround, the centre (dialogue) and the sides are added to
 * both or one of the fronts at -3 dB, without lowering the whole; the low-frequency effects are left out, as BS.775
 * does. Where nothing says which channel is which, all of them are heard.
 */
function mixSteps(source: ChannelShape): Step[] {
  const sums = sumsOf(source);
  // In floating point sums may exceed full scale until the limiter.
  const mix = ["aformat=sample_fmts=fltp", `pan=stereo|FL=${sums.left}|FR=${sums.right}`];
  return source.channels > 2 ? [...mix, `alimiter=limit=${peakMax}:level=false:latency=true`] : mix;
}

/** What goes left and right, in the pan filter's words. */
function sumsOf({ channels, layout }: ChannelShape): { left: string; right: string } {
  if (layout?.startsWith("ambisonic"))
    // Order ACN: W hears all around, Y is left minus right. Two cardioids.
    return { left: `${shared}*c0+${shared}*c1`, right: `${shared}*c0-${shared}*c1` };
  if (layout === "mono") return { left: named("L", 1), right: named("R", 1) };
  if (channels === 1) return { left: "c0", right: "c0" };
  if (layout === "stereo" || (layout && channels > 2))
    return { left: named("L", shared), right: named("R", shared) };
  if (channels > 2 && channels <= 8)
    // FFmpeg takes them for its usual layout of that many. What it calls effects may be a voice.
    return { left: `${named("L", shared)}+${shared}*LFE`, right: `${named("R", shared)}+${shared}*LFE` };
  const others = Array.from({ length: Math.max(0, channels - 2) }, (_, index) => `+0.5*c${index + 2}`).join(
    "",
  );
  return { left: `c0${others}`, right: `c1${others}` };
}

/** Channels that a layout lacks count for nothing, so one sum serves all layouts, also when they change. */
const named = (side: "L" | "R", centre: number): string =>
  [
    ...[`F${side}`, `D${side}`, `${centre}*FC`],
    ...["F?C", "B?", "S?", "W?", "TF?", "TB?", "TS?"].map((name) => `${shared}*${name.replace("?", side)}`),
    ...["BC", "TC", "TFC", "TBC"].map((name) => `0.5*${name}`),
  ].join("+");
