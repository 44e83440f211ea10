/** What a stream's packets say of its length, whatever its container's header says. */
import { AppError } from "@reelkeep/core/errors";
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

/** 100 GB from a slow disk take half of it. */
const scanTimeoutSeconds = 3600;

/**
 * Reads all packets of a stream without decoding them: the whole file is read, memory stays small.
 * @throws AppError `unreadable-file` when there are none, `stalled` after an hour.
 */
export async function scanPackets(
  tools: MediaTools,
  path: string,
  streamIndex: number,
  watch: RunWatch = {},
): Promise<PacketSpan> {
  const span = await readPackets(tools, path, streamIndex, [], watch);
  if (!span) throw new AppError("unreadable-file");
  return span;
}

/**
 * The same of the packets from `fromSeconds` (of the container's clock) on, found by seeking; null where there are
 * none, or where the file can't be sought in.
 */
export const scanLastPackets = (
  tools: MediaTools,
  path: string,
  streamIndex: number,
  fromSeconds: number,
  watch: RunWatch = {},
): Promise<PacketSpan | null> =>
  readPackets(tools, path, streamIndex, ["-read_intervals", `${fromSeconds.toFixed(3)}%`], watch);

async function readPackets(
  tools: MediaTools,
  path: string,
  streamIndex: number,
  interval: readonly string[],
  watch: RunWatch,
): Promise<PacketSpan | null> {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  let rest = "";
  const show = [
    ...["-select_streams", String(streamIndex), ...interval],
    ...["-show_entries", "packet=pts_time,duration_time"],
  ];
  await run(tools, "ffprobe", ["-v", "error", "-of", "csv=p=0", ...inputSandbox, ...show, inputUrl(path)], {
    ...watch,
    timeoutSeconds: scanTimeoutSeconds,
    onStdout: (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [start = Number.NaN, duration] = line.split(",").map(Number.parseFloat);
        if (!Number.isFinite(start)) continue;
        first = Math.min(first, start);
        last = Math.max(last, start);
        end = Math.max(end, start + (duration && Number.isFinite(duration) ? duration : 0));
      }
    },
  });
  return last < first ? null : { firstSeconds: first, lastSeconds: last, endSeconds: end };
}
