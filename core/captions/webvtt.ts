/** WebVTT (W3C, https://www.w3.org/TR/webvtt1/) as HLS carries it: short files, each tied to the stream's clock. */

/** Text that is shown for a while. */
export interface Cue {
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** What follows the times on their line, e.g. `line:0`. */
  readonly settings: string;
  /** One or more lines, none of them empty. */
  readonly text: string;
}

const timing =
  /^((?:\d{2,}:)?\d{2}:\d{2}\.\d{3})[ \t]+-->[ \t]+((?:\d{2,}:)?\d{2}:\d{2}\.\d{3})(?:[ \t]+(.*))?$/;

/** The cues of a file, by their beginning; blocks that can't be read are passed over. */
export function parseWebvtt(text: string): Cue[] {
  const cues: Cue[] = [];
  for (const block of text.replace(/\r\n?/g, "\n").split(/\n{2,}/)) {
    const lines = block.split("\n");
    const at = lines.findIndex((line) => timing.test(line));
    const [, start = "", end = "", settings = ""] = timing.exec(lines[at] ?? "") ?? [];
    const body = lines.slice(at + 1).filter((line) => line.trim() !== "" && !line.includes("-->"));
    const [startSeconds, endSeconds] = [secondsOf(start), secondsOf(end)];
    if (at >= 0 && body.length > 0 && endSeconds > startSeconds)
      cues.push({ startSeconds, endSeconds, settings: settings.trim(), text: body.join("\n") });
  }
  return cues.toSorted((a, b) => a.startSeconds - b.startSeconds);
}

/** Seconds of `hh:mm:ss.mmm` or `mm:ss.mmm`. */
const secondsOf = (time: string): number =>
  time.split(":").reduce((seconds, part) => seconds * 60 + Number(part), 0);

/** `hh:mm:ss.mmm` of seconds. */
export function webvttTime(seconds: number): string {
  const millis = Math.round(seconds * 1000);
  const part = (value: number, digits: number) => String(value).padStart(digits, "0");
  const clock = [3_600_000, 60_000, 1000].map((unit, i) =>
    part(Math.floor(millis / unit) % (i === 0 ? Number.POSITIVE_INFINITY : 60), 2),
  );
  return `${clock.join(":")}.${part(millis % 1000, 3)}`;
}

/** A file of cues, with its head's further lines. */
export function stringifyWebvtt(cues: readonly Cue[], head: readonly string[] = []): string {
  const blocks = cues.map(
    ({ startSeconds, endSeconds, settings, text }) =>
      `${webvttTime(startSeconds)} --> ${webvttTime(endSeconds)}${settings && ` ${settings}`}\n${text}\n`,
  );
  return [["WEBVTT", ...head, ""].join("\n"), ...blocks].join("\n");
}

/**
 * Cues cut into files of `segmentSeconds`, the last one shorter; a cue that reaches over a cut is in both.
 * `clockOffsetSeconds` is where the streams' own clock stands when the film begins (RFC 8216 §3.5).
 */
export function segmentWebvtt(
  cues: readonly Cue[],
  options: {
    readonly durationSeconds: number;
    readonly segmentSeconds: number;
    readonly clockOffsetSeconds: number;
  },
): { readonly durationSeconds: number; readonly text: string }[] {
  const { durationSeconds, segmentSeconds, clockOffsetSeconds } = options;
  const ticks = Math.round(clockOffsetSeconds * 90_000);
  const map = `X-TIMESTAMP-MAP=MPEGTS:${ticks},LOCAL:00:00:00.000`;
  const count = Math.max(1, Math.ceil(durationSeconds / segmentSeconds - 1e-6));
  return Array.from({ length: count }, (_, index) => {
    const from = index * segmentSeconds;
    const to = index === count - 1 ? durationSeconds : from + segmentSeconds;
    const within = cues.filter(({ startSeconds, endSeconds }) => startSeconds < to && endSeconds > from);
    return { durationSeconds: to - from, text: stringifyWebvtt(within, [map]) };
  });
}
