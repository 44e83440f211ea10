/** The stage that decides whether a file can become a video, and what kind of video it is (M1). */
import { open, stat } from "node:fs/promises";
import { AppError } from "@reelkeep/core/errors";
import type { EncodingProfile } from "@reelkeep/core/media/profile";
import { checkVideoFacts, requireVideo } from "@reelkeep/core/upload/admission";
import { readSignature, signatureBytes } from "@reelkeep/core/upload/signature";
import { probeLimits } from "../ffmpeg/limits.ts";
import { type RunWatch, run } from "../ffmpeg/run.ts";
import { inputSandbox, inputUrl, type MediaTools } from "../ffmpeg/tools.ts";
import { describeVideo, type VideoProbe } from "./describe-video.ts";
import { type FfprobeAnswer, type FfprobeFrame, type FfprobeStream, parseFfprobe } from "./ffprobe-json.ts";
import { scanPackets } from "./scan-packets.ts";

/** Which loudspeakers a sound track is for. */
export interface ChannelShape {
  readonly channels: number;
  /** FFmpeg's name, e.g. `5.1(side)`; null when the file doesn't say. */
  readonly layout: string | null;
}

export interface AudioProbe extends ChannelShape {
  readonly index: number;
  readonly codec: string;
  /** As FFprobe names it, e.g. `LC`. */
  readonly profile: string | null;
  readonly sampleRateHz: number;
  /** As the file writes it; null when it doesn't say. */
  readonly language: string | null;
  /** What somebody called the track. */
  readonly title: string | null;
  readonly isDefault: boolean;
  /** How long after the source's beginning it begins. */
  readonly lateSeconds: number;
  /** When it ends, after the source's beginning; null when the file doesn't say. */
  readonly endSeconds: number | null;
}

/** Subtitles that are text. */
export interface SubtitlesProbe {
  readonly index: number;
  readonly language: string | null;
  readonly title: string | null;
  /** Whether they are meant for everybody: translations of what is foreign in the film. */
  readonly isForced: boolean;
}

/** What is known of a source that can become a video. */
export interface SourceProbe {
  readonly container: string;
  readonly sizeBytes: number;
  /** Of the picture, as the container states it or as its packets show. */
  readonly durationSeconds: number;
  readonly video: VideoProbe;
  /** Those that can be decoded. */
  readonly audio: readonly AudioProbe[];
  readonly subtitles: readonly SubtitlesProbe[];
}

/** Each costs a run of ffprobe, and a file may claim thousands. Films come with ten or so. */
const audioTracksMax = 16;
/** What a file's names and tags may make ffprobe write; honest files stay far below 1 MB. */
const answerCharsMax = 16 * 1024 * 1024;
/** What a single frame without a duration counts for. */
const shortestSeconds = 0.04;
/** How much of a file's end is read to find the last picture. */
const lastPacketsSeconds = 10;
/** Packets to decode before a source counts as undecodable: first a few, then enough for a long group of pictures. */
const packetsToTry = [24, 2_000];

/**
 * Probes a local file.
 * @throws AppError `empty-file`, `not-a-video`, `unreadable-file`, `no-video-track`, `unsupported-codec`,
 * `encrypted-video`, `undecodable-video`, `unsupported-hdr`, `video-too-long`, `video-too-big` or `too-demanding`: all
 * permanent.
 */
export async function probeSource(
  tools: MediaTools,
  path: string,
  profile: Pick<EncodingProfile, "limits">,
  watch: RunWatch = {},
): Promise<SourceProbe> {
  const { size: sizeBytes } = await stat(path);
  if (sizeBytes === 0) throw new AppError("empty-file");
  requireVideo(readSignature(await readHead(path)));

  const answer = await ffprobe(tools, path, ["-show_format", "-show_streams"], watch);
  if (!answer) throw new AppError("unreadable-file");
  const stream = mainVideoStream(answer.streams);
  if (!stream) throw new AppError("no-video-track");
  refuseProtected(stream);
  const { width, height } = stream;
  if (!stream.codec_name || !width || !height) throw unsupportedCodec(stream);
  checkVideoFacts({ width, height, hasVideo: true, durationSeconds: null }, profile.limits);

  const frames = await decodeSome(tools, path, stream.index, watch);
  const decoder = await findAlphaDecoder(tools, path, stream, watch);
  const video = describeVideo(answer, stream, stream.codec_name, { width, height }, frames, decoder);
  const stated = statedDuration(answer, stream) ?? (await measuredDuration(tools, path, stream.index, watch));
  checkVideoFacts({ ...video.coded, hasVideo: true, durationSeconds: stated }, profile.limits);
  const [sound, ...others] = await decodableAudio(tools, path, answer, watch);
  const known = {
    container: answer.format.format_name ?? "unknown",
    sizeBytes,
    durationSeconds: stated,
    video,
    audio: sound ? [sound, ...others] : [],
    subtitles: textSubtitles(answer.streams),
  };
  if (!sound || known.container.startsWith("mov")) return requireLength(known, profile);
  const ends = await measureEnds(tools, path, answer, stream, sound, watch);
  if (!ends || ends.durationSeconds <= 0) return requireLength(known, profile);
  const { durationSeconds, soundEndSeconds } = ends;
  const audio = [{ ...sound, endSeconds: soundEndSeconds }, ...others];
  return requireLength({ ...known, durationSeconds, audio }, profile);
}

/**
 * Where sound plays without a picture the nearest picture stands, so a sound that claims to end tomorrow would make
 * a day of pictures. @throws AppError `video-too-long` when picture and sound together are.
 */
function requireLength(probe: SourceProbe, { limits }: Pick<EncodingProfile, "limits">): SourceProbe {
  const pictureEnd = probe.video.lateSeconds + probe.durationSeconds;
  const durationSeconds = Math.max(pictureEnd, probe.audio[0]?.endSeconds ?? 0);
  checkVideoFacts({ ...probe.video.coded, hasVideo: true, durationSeconds }, limits);
  return probe;
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(signatureBytes), 0, signatureBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** FFprobe's answer, or null when it can't open the file. @throws AppError `unreadable-file` when it is too long. */
async function ffprobe(
  tools: MediaTools,
  path: string,
  show: readonly string[],
  watch: RunWatch,
): Promise<FfprobeAnswer | null> {
  let text = "";
  const args = ["-v", "error", "-of", "json", ...inputSandbox, ...show, inputUrl(path)];
  const { exitCode } = await run(tools, "ffprobe", args, {
    ...watch,
    files: { read: [path] },
    limits: probeLimits,
    onStdout: (chunk) => {
      text += chunk;
      if (text.length > answerCharsMax) throw new AppError("unreadable-file");
    },
  });
  return exitCode === 0 ? parseFfprobe(text) : null;
}

/** The largest real picture; a cover or a thumbnail track isn't one. The first wins among equals. */
function mainVideoStream(streams: readonly FfprobeStream[]): FfprobeStream | undefined {
  const pictures = streams.filter(
    ({ codec_type, disposition }) =>
      codec_type === "video" && !disposition.attached_pic && !disposition.timed_thumbnails,
  );
  const area = (s: FfprobeStream) => (s.codec_name ? (s.width ?? 0) * (s.height ?? 0) : 0);
  return pictures.reduce<FfprobeStream | undefined>(
    (best, stream) => (best && area(best) >= area(stream) ? best : stream),
    undefined,
  );
}

/** Encryption, and Dolby Vision without a layer that others can show (compatibility id 0, as in profile 5). */
function refuseProtected(stream: FfprobeStream): void {
  const sideData = stream.side_data_list;
  if (
    stream.codec_tag_string === "encv" ||
    sideData.some(({ side_data_type }) => side_data_type?.startsWith("Encryption"))
  )
    throw new AppError("encrypted-video");
  const dolby = sideData.find(({ dv_profile }) => dv_profile !== null);
  if (dolby && (dolby.dv_profile === 5 || dolby.dv_bl_signal_compatibility_id === 0))
    throw new AppError("unsupported-hdr", {
      message: `Dolby Vision profile ${dolby.dv_profile} can't be shown in right colours.`,
      details: { dolbyVisionProfile: dolby.dv_profile },
    });
}

function unsupportedCodec(stream: FfprobeStream): AppError {
  const codec = stream.codec_name ?? stream.codec_tag_string;
  return new AppError("unsupported-codec", { details: codec ? { codec } : {} });
}

const frameEntries =
  "frame=best_effort_timestamp_time,interlaced_frame,pix_fmt,color_range,color_space,color_transfer,color_primaries,sample_aspect_ratio,channels,channel_layout:frame_side_data";

/** FFmpeg's own decoders of these don't know the transparency that WebM keeps beside the picture. */
const alphaDecoders: Readonly<Record<string, string>> = { vp8: "libvpx", vp9: "libvpx-vp9" };

/** The decoder for a stream that says it is transparent; null where this FFmpeg hasn't got it. */
async function findAlphaDecoder(
  tools: MediaTools,
  path: string,
  { index, codec_name, tags }: FfprobeStream,
  watch: RunWatch,
): Promise<string | null> {
  const decoder = alphaDecoders[codec_name ?? ""];
  if (!decoder || (tags.alpha_mode ?? tags.ALPHA_MODE) !== "1") return null;
  // FFprobe takes no decoder's name.
  const one = ["-map", `0:${index}`, "-frames:v", "1", "-f", "null", "-"];
  const args = ["-v", "error", "-nostdin", ...inputSandbox, `-c:${index}`, decoder];
  const { exitCode } = await run(tools, "ffmpeg", [...args, "-i", inputUrl(path), ...one], {
    ...watch,
    files: { read: [path] },
    limits: probeLimits,
  });
  return exitCode === 0 ? decoder : null;
}

/** The first frames of a stream. @throws AppError `undecodable-video` when there are none. */
async function decodeSome(
  tools: MediaTools,
  path: string,
  index: number,
  watch: RunWatch,
): Promise<FfprobeFrame[]> {
  for (const packets of packetsToTry) {
    const frames = await decodeFrames(tools, path, index, packets, watch);
    if (frames.length > 0) return frames;
  }
  throw new AppError("undecodable-video");
}

async function decodeFrames(
  tools: MediaTools,
  path: string,
  index: number,
  packets: number,
  watch: RunWatch,
): Promise<FfprobeFrame[]> {
  const show = ["-select_streams", String(index), "-read_intervals", `%+#${packets}`];
  const answer = await ffprobe(tools, path, [...show, "-show_frames", "-show_entries", frameEntries], watch);
  return answer?.frames ?? [];
}

const textCodecs = new Set(["subrip", "srt", "ass", "ssa", "mov_text", "webvtt", "text"]);

/** Pictures of text (DVD, Blu-ray, DVB) aren't text. */
const textSubtitles = (streams: readonly FfprobeStream[]): SubtitlesProbe[] =>
  streams
    .filter(({ codec_type, codec_name }) => codec_type === "subtitle" && textCodecs.has(codec_name ?? ""))
    .map(({ index, tags, disposition }) => ({
      index,
      language: tags.language ?? null,
      title: tags.title ?? null,
      isForced: disposition.forced === 1,
    }));

/** The stream's own duration, else the container's less the stream's late start; null when neither is stated. */
function statedDuration({ format }: FfprobeAnswer, stream: FfprobeStream): number | null {
  if (stream.duration !== null && stream.duration > 0) return stream.duration;
  if (format.duration === null || format.duration <= 0) return null;
  const lateSeconds = Math.max(0, (stream.start_time ?? 0) - (format.start_time ?? 0));
  return lateSeconds < format.duration ? format.duration - lateSeconds : null;
}

/**
 * When a stream's last packet has been shown, in seconds of the container's clock; null where no packet has a time.
 * Only the end of the file is read, unless the stream has nothing there.
 */
async function endOf(
  tools: MediaTools,
  path: string,
  { format }: FfprobeAnswer,
  index: number,
  watch: RunWatch,
): Promise<number | null> {
  const fromSeconds = (format.start_time ?? 0) + Math.max(0, (format.duration ?? 0) - lastPacketsSeconds);
  const span =
    (await scanPackets(tools, path, index, { ...watch, fromSeconds })) ??
    (await scanPackets(tools, path, index, watch));
  return span && Math.max(span.endSeconds, span.lastSeconds + shortestSeconds);
}

/**
 * How long picture and sound really are, where a container states one length for all streams, or an estimate: all but
 * MP4 and QuickTime. Sound may outlast the picture by minutes.
 */
async function measureEnds(
  tools: MediaTools,
  path: string,
  answer: FfprobeAnswer,
  stream: FfprobeStream,
  sound: AudioProbe,
  watch: RunWatch,
): Promise<{ durationSeconds: number; soundEndSeconds: number } | null> {
  const startSeconds = answer.format.start_time ?? 0;
  const pictureEnd = await endOf(tools, path, answer, stream.index, watch);
  const soundEnd = await endOf(tools, path, answer, sound.index, watch);
  if (pictureEnd === null || soundEnd === null) return null;
  return {
    durationSeconds: pictureEnd - (stream.start_time ?? startSeconds),
    soundEndSeconds: soundEnd - startSeconds,
  };
}

async function measuredDuration(tools: MediaTools, path: string, index: number, watch: RunWatch) {
  const span = await scanPackets(tools, path, index, watch);
  if (!span) throw new AppError("unreadable-file");
  return Math.max(span.endSeconds, span.lastSeconds + shortestSeconds) - span.firstSeconds;
}

/**
 * A track counts only when it yields sound: some have no known codec, or are encrypted. The default comes first.
 * Tracks beyond the limit aren't looked at.
 */
async function decodableAudio(
  tools: MediaTools,
  path: string,
  { streams, format }: FfprobeAnswer,
  watch: RunWatch,
): Promise<AudioProbe[]> {
  const isDefault = (stream: FfprobeStream) => stream.disposition.default === 1;
  const found: AudioProbe[] = [];
  let looks = 0;
  for (const stream of streams.toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))) {
    const { codec_type, codec_name: codec, profile, channels, sample_rate } = stream;
    if (codec_type !== "audio" || !codec || !channels || !sample_rate) continue;
    if (++looks > audioTracksMax) break;
    const frame = (await decodeFrames(tools, path, stream.index, 50, watch)).at(-1);
    if (!frame) continue;
    const lateSeconds = Math.max(0, (stream.start_time ?? 0) - (format.start_time ?? 0));
    found.push({
      index: stream.index,
      codec,
      profile,
      channels: frame.channels ?? channels,
      layout: frame.channels === null ? stream.channel_layout : frame.channel_layout,
      lateSeconds,
      sampleRateHz: sample_rate,
      language: stream.tags.language ?? null,
      title: stream.tags.title ?? null,
      isDefault: isDefault(stream),
      endSeconds: stream.duration && (stream.start_time ?? 0) - (format.start_time ?? 0) + stream.duration,
    });
  }
  return found;
}
