/** Real media for tests: made by FFmpeg, and looked at by FFprobe, which shares nothing with our own readers. */
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { hlsTsV1 } from "@reelkeep/core/media/profile";
import { parse } from "hls-parser";
import { findMediaTools } from "../ffmpeg/tools.ts";
import { openScratch } from "../scratch.ts";
import { directoryStore } from "../stages/directory-store.ts";
import { type TranscodeOptions, type TranscodeResult, transcodeFile } from "../transcode-file.ts";

const execFileAsync = promisify(execFile);
const large = { maxBuffer: 64 * 1024 * 1024 };

export const testTools = await findMediaTools({
  FFMPEG_PATH: process.env.FFMPEG_PATH,
  FFPROBE_PATH: process.env.FFPROBE_PATH,
  PATH: process.env.PATH,
});

/** Runs FFmpeg on inputs of our own making. */
export async function ffmpeg(...args: string[]): Promise<string> {
  const { stdout, stderr } = await execFileAsync(
    testTools.ffmpeg,
    ["-v", "error", "-nostdin", "-y", ...args],
    large,
  );
  return stdout + stderr;
}

/** FFprobe's JSON answer. */
export async function ffprobe(path: string, ...args: string[]) {
  const { stdout } = await execFileAsync(
    testTools.ffprobe,
    ["-v", "error", "-of", "json", ...args, path],
    large,
  );
  return JSON.parse(stdout) as {
    format?: { duration?: string };
    streams?: Record<string, unknown>[];
    frames?: Record<string, unknown>[];
    packets?: { pts_time: string; flags: string }[];
  };
}

/** Transcodes into `folder` quickly; the work folder lies in `folder` too, and is gone afterwards. */
export async function transcodeInto(
  folder: string,
  sourcePath: string,
  options: Partial<TranscodeOptions> = {},
): Promise<TranscodeResult> {
  await using scratch = await openScratch(join(folder, "scratch"), 0);
  return await transcodeFile({
    tools: testTools,
    profile: hlsTsV1,
    sourcePath,
    workFolder: scratch.folder,
    store: directoryStore(join(folder, "out")),
    preset: "superfast",
    ...options,
  });
}

/** One track of an output, all segments together, as FFprobe and an independent playlist parser see it. */
export async function inspectTrack(outputFolder: string, name: string) {
  const folder = join(outputFolder, name);
  const segments = (await readdir(folder)).filter((file) => file.endsWith(".ts")).toSorted();
  const joinedPath = `${folder}.joined`;
  await writeFile(
    joinedPath,
    Buffer.concat(await Promise.all(segments.map((file) => readFile(join(folder, file))))),
  );
  const playlist = parse(await readFile(join(folder, "playlist.m3u8"), "utf8"));
  if (playlist.isMasterPlaylist) throw new Error(`${name} has no media playlist`);
  const { streams = [], format } = await ffprobe(joinedPath, "-show_streams", "-show_format");
  return {
    joinedPath,
    segmentCount: segments.length,
    extinf: playlist.segments.map(({ duration }) => duration),
    totalSeconds: playlist.segments.reduce((sum, { duration }) => sum + duration, 0),
    targetSeconds: playlist.targetDuration,
    streams,
    probedSeconds: Number(format?.duration),
  };
}

/**
 * How like the first pictures of two videos are (SSIM of the light, 0 to 1), the second shown upright and scaled to
 * the first's size, and before black where it is transparent, by FFmpeg alone, which shares nothing with our filter
 * graphs.
 */
export async function likenessOfFirstPictures(madePath: string, sourcePath: string): Promise<number> {
  const { streams } = await ffprobe(madePath, "-select_streams", "v", "-show_entries", "stream=width,height");
  const { width, height } = streams![0]!;
  const first = "trim=end_frame=1,setpts=0";
  const ground = `color=black:size=${width}x${height}[ground]`;
  const shown = `[1:v]${first},scale=${width}:${height}:out_range=tv[shown]`;
  const source = (await isTransparent(sourcePath))
    ? `${ground};${shown};[ground][shown]overlay=format=auto:shortest=1,format=yuv420p[source]`
    : `${shown};[shown]format=yuv420p[source]`;
  const graph = `[0:v]${first}[made];${source};[made][source]ssim`;
  const args = ["-nostdin", "-hide_banner", "-i", madePath, "-i", sourcePath, "-filter_complex", graph];
  const { stderr } = await execFileAsync(testTools.ffmpeg, [...args, "-f", "null", "-"], large);
  return Number(/SSIM Y:([\d.]+)/.exec(stderr)?.[1]);
}

async function isTransparent(path: string): Promise<boolean> {
  const { streams } = await ffprobe(path, "-select_streams", "v", "-show_entries", "stream=pix_fmt");
  return /^(yuva|rgba|bgra|argb|gbrap)/.test(String(streams?.[0]?.pix_fmt));
}

/** How many pictures FFmpeg's own detector takes for interlaced, and for progressive; it leaves some open. */
export async function countInterlacedPictures(
  path: string,
): Promise<{ interlaced: number; progressive: number }> {
  const args = ["-nostdin", "-hide_banner", "-i", path, "-vf", "idet", "-an", "-f", "null", "-"];
  const { stderr } = await execFileAsync(testTools.ffmpeg, args, large);
  const counts = /Multi frame detection: TFF:\s*(\d+) BFF:\s*(\d+) Progressive:\s*(\d+)/.exec(stderr);
  const [top, bottom, progressive] = (counts?.slice(1) ?? []).map(Number);
  return { interlaced: top! + bottom!, progressive: progressive! };
}

/** Times of all packets of a file's only stream, in order. */
export async function packetTimes(path: string): Promise<number[]> {
  const { packets = [] } = await ffprobe(path, "-show_packets", "-show_entries", "packet=pts_time,flags");
  return packets.map(({ pts_time }) => Number(pts_time)).toSorted((a, b) => a - b);
}

/** The mean colour (0 to 255) of a picture, or of a part of it in pixels. */
export async function meanColor(
  path: string,
  area?: { readonly x: number; readonly y: number; readonly w: number; readonly h: number },
): Promise<{ r: number; g: number; b: number }> {
  const crop = area ? `crop=${area.w}:${area.h}:${area.x}:${area.y},` : "";
  const { stdout } = await execFileAsync(
    testTools.ffmpeg,
    [
      "-v",
      "error",
      "-i",
      path,
      "-vf",
      `${crop}scale=1:1:flags=area,format=rgb24`,
      "-frames:v",
      "1",
      "-f",
      "rawvideo",
      "-",
    ],
    { encoding: "buffer" },
  );
  return { r: stdout[0]!, g: stdout[1]!, b: stdout[2]! };
}

/** The mean level of a file's sound, in dB of full scale. */
export async function levelOf(path: string): Promise<number> {
  const args = ["-nostdin", "-hide_banner", "-i", path, "-vn", "-af", "volumedetect", "-f", "null", "-"];
  const { stderr } = await execFileAsync(testTools.ffmpeg, args, large);
  return Number(/mean_volume: (-?[\d.]+) dB/.exec(stderr)?.[1]);
}
