import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { endlessOffsets } from "@reelkeep/services/testing/hostile-mp4";

const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-e2e-"));
const ffmpeg = process.env.FFMPEG_PATH || "ffmpeg";

/** A moving picture with a tone. `bitsPerSecond` makes it as large as wanted. */
export function makeVideo(
  name: string,
  seconds: number,
  options: { size?: string; bitsPerSecond?: number; pixelFormat?: "yuv420p" | "yuv444p" } = {},
): string {
  const file = path.join(folder, name);
  if (existsSync(file)) return file;
  const rate = options.bitsPerSecond ?? 300_000;
  const picture = `testsrc2=s=${options.size ?? "320x180"}:r=25:d=${seconds}`;
  const codecs = [
    "-c:v",
    "libx264",
    "-preset",
    "ultrafast",
    "-pix_fmt",
    options.pixelFormat ?? "yuv420p",
    "-c:a",
    "aac",
    "-shortest",
  ];
  const size = ["-b:v", `${rate}`, "-minrate", `${rate}`, "-maxrate", `${rate}`, "-bufsize", `${rate}`];
  const padded = ["-x264-params", "nal-hrd=cbr"];
  execFileSync(ffmpeg, [
    ...["-v", "error", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", `sine=d=${seconds}`],
    ...codecs,
    ...size,
    ...padded,
    file,
  ]);
  return file;
}

/** Thirteen hours in as many pictures. */
export const makeLongVideo = (name: string): string =>
  make(name, "color=s=64x64:r=1/3600:d=46800", "-c:v", "libx264", "-pix_fmt", "yuv420p");

/** A tone without a picture. */
export const makeSound = (name: string): string => make(name, "sine=d=1");

function make(name: string, source: string, ...args: string[]): string {
  const file = path.join(folder, name);
  execFileSync(ffmpeg, ["-v", "error", "-y", "-f", "lavfi", "-i", source, ...args, file]);
  return file;
}

/** A film of 40 s with two languages and subtitles, slow enough to encode that its beginning is seen before its end. */
export function makeBilingualFilm(name: string): string {
  const subtitles = write("subtitles.srt", "1\n00:00:00,500 --> 00:00:39,000\nWords below the film\n\n");
  const file = path.join(folder, name);
  execFileSync(ffmpeg, [
    ...["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30:d=40"],
    ...["-f", "lavfi", "-i", "sine=f=300:d=40", "-f", "lavfi", "-i", "sine=f=600:d=40", "-i", subtitles],
    ...["-map", "0", "-map", "1", "-map", "2", "-map", "3", "-c:v", "libx264", "-preset", "ultrafast"],
    ...["-pix_fmt", "yuv420p", "-c:a", "aac", "-c:s", "srt"],
    ...[
      "-metadata:s:a:0",
      "language=eng",
      "-metadata:s:a:1",
      "language=ger",
      "-metadata:s:s:0",
      "language=fre",
    ],
    file,
  ]);
  return file;
}

/** Words, whatever its name says. */
export const writeText = (name: string): string => write(name, "Nothing but words.\n");

/** A few kilobytes on which a reader of containers works for ever. */
export const writeHostile = (name: string): string => write(name, endlessOffsets);

function write(name: string, content: string | Uint8Array): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** A real phone's clip, where the corpus is at hand; else a generated one. */
export function realVideo(): string {
  const file = path.resolve("../shared/corpus/rot90-5.1aac-fragmented-late-video--mediabunny.mp4");
  return existsSync(file) ? file : makeVideo("phone.mp4", 4, { size: "360x640" });
}
