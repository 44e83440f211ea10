/** What a stream's packets say of its length, whatever its container's header says. */
import { scanLimits } from "../ffmpeg/limits.ts";
import { type RunWatch, run } from "../ffmpeg/run.ts";
import { inputSandbox, inputUrl, type MediaTools } from "../ffmpeg/tools.ts";

/** In seconds of the container's clock. */
export interface PacketSpan {
  readonly firstSeconds: number;
  /** When the last packet is shown. */
  readonly lastSeconds: number;
  /** When the last packet has been shown. */
  readonly endSeconds: number;
}

/**
 * Reads a stream's packets without decoding them: all, which reads the whole file, or those from `fromSeconds` (of
 * the container's clock) on, found by seeking. Memory stays small. Null where there are none with a time.
 * @throws AppError `stalled` after an hour, `too-demanding` at another limit.
 */
export async function scanPackets(
  tools: MediaTools,
  path: string,
  streamIndex: number,
  options: RunWatch & { readonly fromSeconds?: number } = {},
): Promise<PacketSpan | null> {
  const { fromSeconds, ...watch } = options;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  let rest = "";
  const args = [
    ...["-v", "error", "-of", "csv=p=0", ...inputSandbox, "-select_streams", String(streamIndex)],
    ...(fromSeconds === undefined ? [] : ["-read_intervals", `${fromSeconds.toFixed(3)}%`]),
    ...["-show_entries", "packet=pts_time,dts_time,duration_time", inputUrl(path)],
  ];
  await run(tools, "ffprobe", args, {
    ...watch,
    files: { read: [path] },
    limits: scanLimits,
    onStdout: (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        // AVI knows when a packet is decoded, not when it is shown.
        const [shown = Number.NaN, decoded = Number.NaN, duration = 0] = line
          .split(",")
          .map(Number.parseFloat);
        const start = Number.isFinite(shown) ? shown : decoded;
        if (!Number.isFinite(start)) continue;
        first = Math.min(first, start);
        last = Math.max(last, start);
        end = Math.max(end, start + (Number.isFinite(duration) ? duration : 0));
      }
    },
  });
  return last < first ? null : { firstSeconds: first, lastSeconds: last, endSeconds: end };
}
