/** A stream's packets as its container lists them, without decoding. */
import { scanLimits } from "../ffmpeg/limits.ts";
import { type RunWatch, run } from "../ffmpeg/run.ts";
import { inputSandbox, inputUrl, type MediaTools } from "../ffmpeg/tools.ts";

/** In seconds of the container's clock; NaN where it has none. */
export interface Packet {
  readonly shownSeconds: number;
  readonly decodedSeconds: number;
  readonly sizeBytes: number;
  readonly isKey: boolean;
  /** Hidden by an edit list, or broken. */
  readonly isUnfit: boolean;
}

/**
 * Hands every packet of a stream to `take` until that answers false; one line at a time, so that memory stays small.
 * `startSeconds` is when the container begins, which FFmpeg counts from.
 * @throws AppError `stalled` after an hour, `too-demanding`; or the signal's reason.
 */
export async function readPackets(
  tools: MediaTools,
  path: string,
  streamIndex: number,
  take: (packet: Packet) => boolean,
  watch: RunWatch = {},
): Promise<{ readonly startSeconds: number }> {
  const enough = new AbortController();
  const reason = new Error("enough packets were read");
  let startSeconds = 0;
  let rest = "";
  const read = (line: string) => {
    const [kind, ...fields] = line.split(",");
    if (kind === "format") startSeconds = Number.parseFloat(fields[0] ?? "") || 0;
    if (kind !== "packet") return;
    const [shown = "", decoded = "", size = "", flags = ""] = fields;
    const goOn = take({
      shownSeconds: Number.parseFloat(shown),
      decodedSeconds: Number.parseFloat(decoded),
      sizeBytes: Number.parseInt(size, 10) || 0,
      isKey: flags.startsWith("K"),
      isUnfit: /[DC]/.test(flags),
    });
    if (!goOn) enough.abort(reason);
  };
  const args = [
    ...["-v", "error", "-of", "csv", ...inputSandbox, "-select_streams", String(streamIndex)],
    ...["-show_entries", "format=start_time:packet=pts_time,dts_time,size,flags", inputUrl(path)],
  ];
  const signal = watch.signal ? AbortSignal.any([watch.signal, enough.signal]) : enough.signal;
  try {
    await run(tools, "ffprobe", args, {
      ...watch,
      signal,
      files: { read: [path] },
      limits: scanLimits,
      onStdout: (chunk) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (!enough.signal.aborted) read(line);
      },
    });
  } catch (error) {
    if (error !== reason) throw error;
  }
  return { startSeconds };
}
