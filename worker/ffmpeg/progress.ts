/** FFmpeg's `-progress` output: blocks of `key=value` lines, each closed by `progress=continue` or `=end`. */

export interface FfmpegProgress {
  /** Furthest written output time; null until the first packet ("N/A"). */
  readonly outTimeSeconds: number | null;
  readonly frame: number | null;
  readonly ended: boolean;
}

/** Returns a function that takes chunks of text and calls `onProgress` for each whole block. */
export function progressReader(onProgress: (progress: FfmpegProgress) => void): (chunk: string) => void {
  let rest = "";
  let block = new Map<string, string>();
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [key = "", value = ""] = line.trim().split("=", 2);
      block.set(key, value.trim());
      if (key !== "progress") continue;
      const micros = finite(block.get("out_time_us"));
      onProgress({
        outTimeSeconds: micros === null ? null : Math.max(0, micros / 1e6),
        frame: finite(block.get("frame")),
        ended: value === "end",
      });
      block = new Map();
    }
  };
}

function finite(text: string | undefined): number | null {
  const number = Number(text);
  return text && Number.isFinite(number) ? number : null;
}
