/** What others do with the same file, by FFmpeg alone and to the local disk, with our plan's encoder settings. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { encodeArgs, posterArgs } from "@reelkeep/worker/ffmpeg/args";
import { cpuEngine } from "@reelkeep/worker/ffmpeg/engines";
import { passesOf } from "@reelkeep/worker/stages/passes";
import type { EncodePlan } from "@reelkeep/worker/stages/plan";
import type { Command } from "./measure.ts";

const ffmpeg = process.env.FFMPEG_PATH || "ffmpeg";
const quiet = ["-nostdin", "-v", "error", "-y"];
type Rendition = EncodePlan["renditions"][number];

const soundCodec = ({ sounds: [audio] }: EncodePlan): string[] =>
  audio
    ? [
        "-c:a",
        "aac",
        "-b:a",
        String(audio.bitRateBps),
        "-ac",
        String(audio.channels),
        "-ar",
        String(audio.sampleRateHz),
      ]
    : [];

const pictureCodec = (plan: EncodePlan, rendition: Rendition, of = ""): string[] => [
  ...[`-c:v${of}`, "libx264", `-preset:v${of}`, "veryfast", `-crf:v${of}`, String(rendition.crf)],
  ...[`-maxrate:v${of}`, String(rendition.maxRateBps), `-bufsize:v${of}`, String(rendition.maxRateBps * 2)],
  ...[`-profile:v${of}`, rendition.h264Profile, `-level:v${of}`, (rendition.h264LevelIdc / 10).toFixed(1)],
  ...[`-sc_threshold:v${of}`, "0", `-g:v${of}`, String(Math.round(plan.keyframeSeconds * plan.frameRate))],
];

const hls = (plan: EncodePlan): string[] => [
  ...[
    "-f",
    "hls",
    "-hls_time",
    String(plan.segmentSeconds),
    "-hls_list_size",
    "0",
    "-hls_playlist_type",
    "vod",
  ],
  ...["-hls_flags", "independent_segments"],
];

/** The posters that every way makes beside its ladder. */
export const posters = (plan: EncodePlan, source: string, folder: string): Command[] =>
  plan.posterAtSeconds.slice(0, 3).map((seconds) => ({
    program: ffmpeg,
    args: posterArgs(plan, source, path.join(folder, "poster.jpg"), { seconds, lit: true }),
  }));

/** The limit: one decode, each size scaled from the one above it, the sound once, nothing else. */
export function bare(plan: EncodePlan, source: string, folder: string): Command {
  const { renditions } = plan;
  const scale = ({ width, height }: Rendition) => `scale=${width}:${height}:flags=bicubic`;
  const chains = renditions.map((rendition, i) => {
    const split = `,split[v${i}][n${i}]`;
    return `${i === 0 ? `[0:${plan.video.index}]` : `[n${i - 1}]`}${scale(rendition)}${split}`;
  });
  const { everySeconds, tile } = plan.storyboard;
  chains.push(
    `[n${renditions.length - 1}]fps=1/${everySeconds},scale=${tile.width}:${tile.height},tile=10x6[board]`,
  );
  const streams = renditions.map((_, i) => `v:${i},agroup:sound`);
  return {
    program: ffmpeg,
    cwd: folder,
    args: [
      ...quiet,
      ...["-i", source, "-filter_complex", chains.join(";")],
      ...renditions.flatMap((rendition, i) => ["-map", `[v${i}]`, ...pictureCodec(plan, rendition, `:${i}`)]),
      ...["-map", "0:a:0", ...soundCodec(plan), ...hls(plan)],
      ...[
        "-hls_segment_filename",
        "%v_%05d.ts",
        "-var_stream_map",
        [...streams, "a:0,agroup:sound"].join(" "),
        "%v.m3u8",
      ],
      ...["-map", "[board]", "-c:v", "mjpeg", "-q:v", "5", "-f", "image2", "sheet_%03d.jpg"],
    ],
  };
}

/** Our own words of one FFmpeg, without the worker around them: what the worker itself costs is the rest. */
export function ours(plan: EncodePlan, source: string, folder: string): Command {
  for (const name of [...plan.renditions.map((rendition) => rendition.name), "audio"])
    mkdirSync(path.join(folder, name), { recursive: true });
  const [pass] = passesOf(plan);
  const choices = { preset: "veryfast", engine: cpuEngine } as const;
  const order = { plan, pass: pass!, sourcePath: source, ...choices, firstSegment: 1 };
  return { program: ffmpeg, cwd: folder, args: encodeArgs(order) };
}

/** The common way: one FFmpeg for each rendition, each with the sound. */
export const eachByItself = (plan: EncodePlan, source: string, folder: string): Command[] =>
  plan.renditions.map((rendition) => ({
    program: ffmpeg,
    cwd: folder,
    args: [
      ...[...quiet, "-i", source, "-vf", `scale=${rendition.width}:${rendition.height}:flags=bicubic`],
      ...[...pictureCodec(plan, rendition), ...soundCodec(plan), ...hls(plan)],
      ...["-hls_segment_filename", `${rendition.name}_%05d.ts`, `${rendition.name}.m3u8`],
    ],
  }));

/** Made into one MP4 first, which every rendition is then made of. */
export function normalisedFirst(plan: EncodePlan, source: string, folder: string): Command[] {
  const normal = path.join(folder, "normal.mp4");
  const first: Command = {
    program: ffmpeg,
    args: [
      ...[
        ...quiet,
        "-i",
        source,
        "-c:v",
        "libx264",
        "-preset",
        "veryfast",
        "-crf",
        "18",
        "-pix_fmt",
        "yuv420p",
      ],
      ...[...soundCodec(plan), "-movflags", "+faststart", normal],
    ],
  };
  return [first, ...eachByItself(plan, normal, folder)];
}
