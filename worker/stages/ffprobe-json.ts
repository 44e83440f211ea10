/**
 * FFprobe's JSON, read with suspicion: any value may be missing, "N/A", "unknown", or a number with rubbish behind
 * it. What can't be read becomes null; only an answer that isn't JSON at all is an error.
 */
import { z } from "zod";

/** A finite number from text such as "29.97", or null. */
const number = z
  .union([z.string(), z.number()])
  .transform((value) => {
    const parsed = typeof value === "number" ? value : /^\s*(-?\d+(?:\.\d+)?)/.exec(value)?.[1];
    return parsed === undefined ? null : Number(parsed);
  })
  .nullish()
  .catch(null)
  .transform((value) => value ?? null);

/** A word, or null for nothing and for FFprobe's ways to say that it doesn't know. */
const word = z
  .string()
  .nullish()
  .catch(null)
  .transform((value) => (value && !["unknown", "N/A", "none"].includes(value) ? value : null));

/** "16:15" or "30000/1001" as a ratio of two positive numbers, or null. */
const ratio = z
  .string()
  .nullish()
  .catch(null)
  .transform((value) => {
    const [, num, den] = /^(\d+)[:/](\d+)/.exec(value ?? "") ?? [];
    return Number(num) > 0 && Number(den) > 0 ? { num: Number(num), den: Number(den) } : null;
  });

/** "1000", "40000000/10000" or 1000 as a number, or null. */
const quotient = z
  .union([z.string(), z.number()])
  .nullish()
  .catch(null)
  .transform((value) => {
    const [, num, den = "1"] = /^(\d+(?:\.\d+)?)(?:\/(\d+))?$/.exec(String(value)) ?? [];
    return num !== undefined && Number(den) > 0 ? Number(num) / Number(den) : null;
  });

const flags = z.record(z.string(), z.number().catch(0)).catch({});
/** The entries that can be read. */
const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item.nullable().catch(null))
    .catch([])
    .transform((entries) => entries.filter((entry) => entry !== null));
/** Absent is as good as unreadable. */
const object = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.object(shape);

const sideDataSchema = object({
  side_data_type: word,
  /** Three lines of three numbers, each line after its offset. */
  displaymatrix: word,
  rotation: number,
  max_content: quotient,
  max_luminance: quotient,
  dv_profile: number,
  dv_bl_signal_compatibility_id: number,
});

const streamSchema = object({
  index: z.number().int().nonnegative(),
  codec_type: word,
  codec_name: word,
  codec_tag_string: word,
  profile: word,
  level: number,
  closed_captions: number,
  width: number,
  height: number,
  sample_aspect_ratio: ratio,
  pix_fmt: word,
  color_range: word,
  color_space: word,
  color_transfer: word,
  color_primaries: word,
  field_order: word,
  r_frame_rate: ratio,
  avg_frame_rate: ratio,
  start_time: number,
  duration: number,
  channels: number,
  channel_layout: word,
  sample_rate: number,
  disposition: flags,
  tags: z.record(z.string(), z.string().catch("")).catch({}),
  side_data_list: list(sideDataSchema),
});
export type FfprobeStream = z.infer<typeof streamSchema>;

const frameSchema = object({
  best_effort_timestamp_time: number,
  interlaced_frame: number,
  pix_fmt: word,
  color_range: word,
  color_space: word,
  color_transfer: word,
  color_primaries: word,
  sample_aspect_ratio: ratio,
  channels: number,
  channel_layout: word,
  side_data_list: list(sideDataSchema),
});
export type FfprobeFrame = z.infer<typeof frameSchema>;

const answerSchema = object({
  format: object({ format_name: word, start_time: number, duration: number }).catch({
    format_name: null,
    start_time: null,
    duration: null,
  }),
  streams: list(streamSchema),
  frames: list(frameSchema),
});
export type FfprobeAnswer = z.infer<typeof answerSchema>;

/** Returns null when the text isn't an FFprobe answer. */
export function parseFfprobe(text: string): FfprobeAnswer | null {
  try {
    const parsed = answerSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
