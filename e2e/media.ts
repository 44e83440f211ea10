import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-e2e-"));
const ffmpeg = process.env.FFMPEG_PATH || "ffmpeg";

/** A moving picture with a tone. `bitsPerSecond` makes it as large as wanted. */
export function makeVideo(
  name: string,
  seconds: number,
  options: { size?: string; bitsPerSecond?: number } = {},
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
    "yuv420p",
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

/** A real phone's clip, where the corpus is at hand; else a generated one. */
export function realVideo(): string {
  const file = path.resolve("../shared/corpus/rot90-5.1aac-fragmented-late-video--mediabunny.mp4");
  return existsSync(file) ? file : makeVideo("phone.mp4", 4, { size: "360x640" });
}
