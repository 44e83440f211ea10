/** FFmpeg's words for a plan. */
import type { VideoProbe } from "../stages/describe-video.ts";
import type { Pass } from "../stages/passes.ts";
import { type EncodePlan, encodedRenditions, type PlannedSubtitles } from "../stages/plan.ts";
import { cpuEngine, decodingArgs, type EncoderEngine, encoderOptions } from "./engines.ts";
import { filterGraphs, soundPad, storyboardPad, videoPad } from "./filter-graph.ts";
import { pictureSteps } from "./picture-steps.ts";
import { inputSandbox, inputUrl } from "./tools.ts";

/** FFmpeg's own list of the segments it has finished, in each rendition's folder; never published. */
export const segmentListName = (pass: Pick<Pass, "name">): string => `${pass.name}.m3u8`;

/** The pattern of a pass's storyboard sheets, in the working directory; from 1. */
export const sheetFileName = (number: number): string => `sheet_${String(number).padStart(5, "0")}.jpg`;
const sheetPattern = "sheet_%05d.jpg";

/**
 * Where the streams' clock stands when the film begins. An encoder's run-up and pictures that are stored before they
 * are shown come earlier, and no time may lie before zero: without room FFmpeg would move everything by what one run
 * needs, and the windows of a film would no longer meet.
 */
export const clockStartSeconds = 0.4;

/**
 * x264's speed; slower presets give smaller files for more CPU time. `ultrafast` isn't among them: it leaves out
 * what makes a stream High or Main profile, so the output wouldn't be the plan's.
 */
export type EncoderPreset = "superfast" | "veryfast" | "faster" | "fast" | "medium" | "slow";

const quiet = ["-hide_banner", "-nostdin", "-nostats", "-v", "warning"] as const;
/** Seeking goes to the keyframe before; a little earlier, so that rounding can't miss it. */
const seekMarginSeconds = 1;

/** What one run needs to know. */
export interface PassOrder {
  readonly plan: EncodePlan;
  readonly pass: Pass;
  readonly sourcePath: string;
  readonly preset: EncoderPreset;
  readonly engine: EncoderEngine;
  /** The number of the first segment that it writes in each folder. */
  readonly firstSegment: number;
}

/**
 * One run that makes its renditions and sounds, as HLS below the working directory: `{folder}/segment_…`, and sheets
 * of its part of the storyboard.
 *
 * One HLS output holds all streams, because several would lose the sync of picture and sound by the encoder's
 * delay. A list names a segment only once the segment is whole, and is itself replaced in one step.
 */
export function encodeArgs(order: PassOrder): string[] {
  const { plan, pass, sourcePath } = order;
  // What isn't encoded has no use for a card.
  const engine = encodedRenditions(plan).length > 0 ? order.engine : cpuEngine;
  return [
    ...quiet,
    "-progress",
    "pipe:1",
    ...inputSandbox,
    // Rotation is a step of the filter graph, in one place for every encoder.
    "-noautorotate",
    ...readingArgs(plan, pass),
    ...(pass.window ? decodingArgs(engine, plan.video) : []),
    "-i",
    inputUrl(sourcePath),
    ...filterGraphs(plan, pass, engine).flatMap((graph) => ["-filter_complex", graph]),
    ...pass.renditions.flatMap((_, index) => pictureArgs(order, index)),
    ...pass.sounds.flatMap(soundArgs),
    ...(pass.renditions.length + pass.sounds.length > 0 ? hlsArgs(order) : []),
    ...(pass.window ? storyboardArgs(pass) : []),
  ];
}

/** The options before an input whose picture needs a decoder of its own. */
const decoderArgs = ({ decoder, index }: VideoProbe): string[] => (decoder ? [`-c:${index}`, decoder] : []);

/** A later window keeps the source's clock and begins to read shortly before its own first picture. */
function readingArgs(plan: EncodePlan, { window }: Pass): string[] {
  const decoding = [
    ...decoderArgs(plan.video),
    ...(window && plan.copied && plan.renditions.length === 1 ? ["-skip_frame", "nokey"] : []),
  ];
  if (plan.windows.length === 1 || !window) return decoding;
  const from = Math.max(0, window.startSeconds - seekMarginSeconds);
  return [
    ...decoding,
    ...["-copyts", "-start_at_zero"],
    ...(from > 0 ? ["-noaccurate_seek", "-ss", from.toFixed(3)] : []),
  ];
}

/** The encoder of the pass's rendition at `index`, or its copy. */
function pictureArgs(order: PassOrder, index: number): string[] {
  const { plan, pass, preset } = order;
  const rendition = pass.renditions[index]!;
  if (pass.copiesPicture && index === 0) return ["-map", `0:${plan.video.index}`, `-c:v:${index}`, "copy"];
  const own = (name: string, value: string | number) => [`-${name}:v:${index}`, String(value)];
  const options = encoderOptions(order.engine, rendition, { preset, reordersFrames: plan.reordersFrames });
  return [
    ...["-map", videoPad(rendition.name)],
    // Every frame keeps its own time; a fixed rate would drop or repeat frames of varying rates.
    ...[...own("fps_mode", "passthrough"), ...own("enc_time_base", "1/90000")],
    ...own("force_key_frames", keyframes(order)),
    ...options.flatMap(([name, value]) => own(name, value)),
  ];
}

/**
 * Keyframes at the same times in every rendition: where the source has them when its own picture is taken over, else
 * counted from the run's first frame, wherever that lies.
 */
function keyframes({ plan, pass: { window } }: PassOrder): string {
  const { copied, keyframeSeconds } = plan;
  if (!copied) return `expr:if(n,gte(t,ld(0)+${keyframeSeconds}*n_forced-0.000001),st(0,t)*0+1)`;
  if (plan.windows.length === 1) return "source";
  const { startSeconds, endSeconds } = window!;
  const cuts = copied.cutsSeconds.filter(
    (cut) => cut >= startSeconds && cut < (endSeconds ?? Number.POSITIVE_INFINITY),
  );
  // FFmpeg counts a list from the first frame.
  return cuts.map((cut) => Math.max(0, cut - cuts[0]! - cutMarginSeconds).toFixed(6)).join(",");
}

/** Less than a frame at any rate. */
const cutMarginSeconds = 0.002;

function soundArgs(sound: Pass["sounds"][number], index: number): string[] {
  const own = (name: string, value: string | number) => [`-${name}:a:${index}`, String(value)];
  if (sound.isCopied) return ["-map", `0:${sound.streamIndex}`, ...own("c", "copy")];
  return [
    ...["-map", soundPad(sound.folder)],
    ...[...own("c", "aac"), ...own("b", sound.bitRateBps)],
    ...[...own("ac", sound.channels), ...own("ar", sound.sampleRateHz)],
  ];
}

function hlsArgs({ plan, pass, firstSegment }: PassOrder): string[] {
  const group = pass.sounds.length > 0 ? ",agroup:sound" : "";
  const streams = pass.renditions.map(({ name }, index) => `v:${index}${group},name:${name}`);
  for (const [index, { folder }] of pass.sounds.entries())
    streams.push(`a:${index}${group}${index === 0 ? ",default:yes" : ""},name:${folder}`);
  return [
    ...["-map_metadata", "-1", "-map_chapters", "-1"],
    // Without the muxer's usual head start of 1.4 s; ours is the same for all.
    ...["-muxdelay", "0", "-muxpreload", "0", "-output_ts_offset", String(clockStartSeconds)],
    ...["-f", "hls", "-hls_time", String(segmentSecondsOf(plan, pass)), "-hls_list_size", "0"],
    ...["-hls_playlist_type", "event", "-hls_flags", "independent_segments+temp_file"],
    ...["-hls_segment_type", "mpegts", "-start_number", String(firstSegment)],
    ...["-hls_segment_filename", "%v/segment_%05d.ts"],
    ...["-var_stream_map", streams.join(" "), `%v/${segmentListName(pass)}`],
  ];
}

/** In the windows of a copied picture keyframes are where its cuts are, so that each begins a segment. */
function segmentSecondsOf({ copied, segmentSeconds }: EncodePlan, pass: Pass): number {
  if (!copied) return segmentSeconds;
  return pass.copiesPicture ? copied.segmentSeconds : 0.001;
}

function storyboardArgs({ window }: Pass): string[] {
  return [
    ...["-map", storyboardPad, "-c:v", "mjpeg", "-q:v", "5", "-fps_mode", "passthrough"],
    // What rounding would put after the window belongs to the next one's sheet.
    ...(window?.endSeconds == null ? [] : ["-frames:v", "1"]),
    ...["-map_metadata", "-1", "-f", "image2", "-start_number", "1", "-y", sheetPattern],
  ];
}

/** Writes each of the subtitles as a WebVTT file, `{folder}.vtt`, into the working directory; reads nothing else. */
export function subtitlesArgs(subtitles: readonly PlannedSubtitles[], sourcePath: string): string[] {
  return [
    ...[...quiet, ...inputSandbox, "-i", inputUrl(sourcePath)],
    ...subtitles.flatMap(({ folder, streamIndex }) => [
      ...["-map", `0:${streamIndex}`, "-map_metadata", "-1", "-c:s", "webvtt"],
      ...["-f", "webvtt", "-y", subtitlesFileName(folder)],
    ]),
  ];
}
export const subtitlesFileName = (folder: string): string => `${folder}.vtt`;

/**
 * One picture into `outputPath` (JPEG), at most 1280 wide. `lit` passes only frames that aren't nearly black, and
 * the most typical one of the next few is taken; without it the first frame is.
 */
export function posterArgs(
  plan: EncodePlan,
  sourcePath: string,
  outputPath: string,
  at: { readonly seconds: number; readonly lit: boolean },
): string[] {
  const top = plan.renditions[0]!;
  const scale = Math.min(1, 1280 / top.width);
  const even = (side: number) => Math.max(2, 2 * Math.round((side * scale) / 2));
  // Limited range: 16 is black.
  const litSteps = [
    "signalstats",
    "metadata=mode=select:key=lavfi.signalstats.YAVG:value=28:function=greater",
    "thumbnail=n=24",
  ];
  const size = { width: even(top.width), height: even(top.height) };
  const steps = [...pictureSteps(plan.video, size), ...(at.lit ? litSteps : [])];
  return [
    ...quiet,
    ...inputSandbox,
    "-noautorotate",
    ...(at.seconds > 0 ? ["-ss", at.seconds.toFixed(3)] : []),
    ...decoderArgs(plan.video),
    ...["-t", "4", "-i", inputUrl(sourcePath)],
    ...["-filter_complex", `[0:${plan.video.index}]${steps.join(",")},scale=out_range=pc[poster]`],
    ...["-map", "[poster]", "-frames:v", "1", "-c:v", "mjpeg", "-q:v", "4", "-map_metadata", "-1"],
    ...["-update", "1", "-y", "-f", "image2", outputPath],
  ];
}
