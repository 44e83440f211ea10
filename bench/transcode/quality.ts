import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** The segments of the bare way's rendition, in order. */
export const segmentsIn = (folder: string, rendition: number): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(`${rendition}_`))
    .sort()
    .map((name) => path.join(folder, name));

/** SSIM (0 to 1) of segments against the film scaled to their size, frame by frame, and their rate on disk. */
export function compareWith(
  film: string,
  segments: readonly string[],
  { width, height }: { readonly width: number; readonly height: number },
  seconds: number,
): { ssim: number; bitsPerSecond: number } {
  const graph = `[1:v]scale=${width}:${height}:flags=bicubic,settb=1/30,setpts=N[original];[0:v]settb=1/30,setpts=N[made];[made][original]ssim`;
  const args = ["-nostdin", "-hide_banner", "-i", `concat:${segments.join("|")}`, "-i", film];
  const log = execFileSync(
    "sh",
    [
      "-c",
      '"$@" 2>&1',
      "sh",
      process.env.FFMPEG_PATH || "ffmpeg",
      ...args,
      "-filter_complex",
      graph,
      "-an",
      "-f",
      "null",
      "-",
    ],
    { encoding: "utf8", maxBuffer: 1e8 },
  );
  const ssim = Number(/SSIM .*All:([\d.]+)/.exec(log)?.[1]);
  const bytes = segments.reduce((sum, file) => sum + statSync(file).size, 0);
  if (!Number.isFinite(ssim)) throw new Error(`No SSIM in: ${log.slice(-1000)}`);
  return { ssim, bitsPerSecond: (bytes * 8) / seconds };
}
