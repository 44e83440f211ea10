/** FFmpeg's words for a plan. */
import { audioFolder } from "@reelkeep/core/object-keys";
import type { EncodePlan } from "../stages/plan.ts";
import { audioPad, filterGraph, pictureSteps, videoPad } from "./filter-graph.ts";
import { inputSandbox, inputUrl } from "./tools.ts";

/** FFmpeg's own list of the segments it has finished, in each rendition's folder; never published. */
export const segmentListName = "ffmpeg.m3u8";

/**
 * x264's speed; slower presets give smaller files for more CPU time. `ultrafast` isn't among them: it leaves out
 * what makes a stream High or Main profile, so the output wouldn't be the plan's.
 */
export type EncoderPreset = "superfast" | "veryfast" | "faster" | "fast" | "medium" | "slow";

const quiet = ["-hide_banner", "-nostdin", "-nostats", "-v", "warning"] as const;

/**
 * One run that makes every rendition and the sound, as HLS below the working directory: `{rendition}/segment_…`.
 *
 * One HLS output holds all streams, because several would lose the sync of picture and sound by the encoder's
 * delay. A list names a segment only once the segment is whole, and is itself replaced in one step.
 */
export function encodeArgs(plan: EncodePlan, sourcePath: string, preset: EncoderPreset): string[] {
  const maps = plan.renditions.flatMap((_, index) => ["-map", videoPad(index)]);
  return [
    ...quiet,
    "-progress",
    "pipe:1",
    ...inputSandbox,
    // Rotation is a step of the filter graph, in one place for every encoder.
    "-noautorotate",
    "-i",
    inputUrl(sourcePath),
    "-filter_complex",
    filterGraph(plan),
    ...maps,
    ...videoArgs(plan, preset),
    ...(plan.audio ? ["-map", audioPad, ...audioArgs(plan.audio)] : []),
    "-map_metadata",
    "-1",
    "-map_chapters",
    "-1",
    ...hlsArgs(plan),
  ];
}

function videoArgs(plan: EncodePlan, preset: EncoderPreset): string[] {
  // Keyframes at the same times in every rendition: counted from the first frame, wherever that lies.
  const keyframes = `expr:if(n,gte(t,ld(0)+${plan.keyframeSeconds}*n_forced-0.000001),st(0,t)*0+1)`;
  const perRendition = plan.renditions.flatMap((rendition, index) => [
    ...[`-crf:v:${index}`, String(rendition.crf)],
    ...[`-maxrate:v:${index}`, String(rendition.maxRateBps)],
    ...[`-bufsize:v:${index}`, String(rendition.maxRateBps * 2)],
    ...[`-profile:v:${index}`, rendition.h264Profile],
    ...[`-level:v:${index}`, (rendition.h264LevelIdc / 10).toFixed(1)],
  ]);
  return [
    ...["-c:v", "libx264", "-preset:v", preset],
    // Every frame keeps its own time; a fixed rate would drop or repeat frames of varying rates.
    ...["-fps_mode", "passthrough", "-enc_time_base:v", "1/90000"],
    ...["-force_key_frames:v", keyframes, "-sc_threshold:v", "0", "-g:v", "100000"],
    ...(plan.reordersFrames ? [] : ["-bf:v", "0"]),
    ...perRendition,
  ];
}

const audioArgs = (audio: NonNullable<EncodePlan["audio"]>): string[] => [
  ...["-c:a", "aac", "-b:a", String(audio.bitRateBps)],
  ...["-ac", String(audio.channels), "-ar", String(audio.sampleRateHz)],
];

function hlsArgs(plan: EncodePlan): string[] {
  const group = plan.audio ? ",agroup:sound" : "";
  const streams = plan.renditions.map(({ name }, index) => `v:${index}${group},name:${name}`);
  if (plan.audio) streams.push(`a:0${group},default:yes,name:${audioFolder}`);
  return [
    // Without the muxer's usual head start of 1.4 s, time stamps begin near zero.
    ...["-muxdelay", "0", "-muxpreload", "0"],
    ...["-f", "hls", "-hls_time", String(plan.segmentSeconds), "-hls_list_size", "0"],
    ...["-hls_playlist_type", "event", "-hls_flags", "independent_segments+temp_file"],
    ...["-hls_segment_type", "mpegts", "-start_number", "1"],
    ...["-hls_segment_filename", "%v/segment_%05d.ts"],
    ...["-var_stream_map", streams.join(" "), `%v/${segmentListName}`],
  ];
}

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
    ...["-t", "4", "-i", inputUrl(sourcePath)],
    ...["-filter_complex", `[0:${plan.video.index}]${steps.join(",")},scale=out_range=pc[poster]`],
    ...["-map", "[poster]", "-frames:v", "1", "-c:v", "mjpeg", "-q:v", "4", "-map_metadata", "-1"],
    ...["-update", "1", "-y", "-f", "image2", outputPath],
  ];
}
