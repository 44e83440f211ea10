/** One FFmpeg run makes the whole ladder while its segments are already moving to storage (M5). */
import { mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";
import { avcCodecString } from "@reelkeep/core/media/h264-level";
import { audioFolder } from "@reelkeep/core/object-keys";
import { type EncoderPreset, encodeArgs, segmentListName } from "../ffmpeg/args.ts";
import { type FfmpegProgress, progressReader } from "../ffmpeg/progress.ts";
import { type RunHandle, run } from "../ffmpeg/run.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import type { OutputStore } from "./output-store.ts";
import type { EncodePlan } from "./plan.ts";
import { type CutSegment, followSegmentList, withExactDurations } from "./segment-list.ts";
import { type StoredSegment, segmentUploader } from "./segment-uploader.ts";

/** Every number only grows. */
export interface EncodeProgress {
  readonly secondsDone: number;
  readonly secondsTotal: number;
  /** Seconds of each rendition (and `audio`) that lie in storage. */
  readonly renditions: readonly { readonly name: string; readonly secondsDone: number }[];
}

/** One rendition's segments, or the sound's. */
export interface EncodedTrack {
  /** The rendition's name, or `audio`. */
  readonly name: string;
  /** RFC 6381, as the stream describes itself. */
  readonly codec: string;
  readonly segments: readonly StoredSegment[];
}

export interface EncodeOptions {
  readonly preset?: EncoderPreset;
  readonly signal?: AbortSignal | undefined;
  /** Told only when there is progress. */
  readonly onProgress?: ((progress: EncodeProgress) => void) | undefined;
  readonly onSegmentStored?: ((segment: StoredSegment) => void) | undefined;
}

/** AAC-LC, RFC 6381 §3.3; the encoder makes no other kind. */
const aacCodec = "mp4a.40.2";
const pollMs = 200;
/** FFmpeg stands still while more than this waits for storage, so that scratch stays small. */
const backlogBytesMax = 512 * 1024 * 1024;
/** A disk with less than this is full: no segment fits. */
const fullBytes = 64 * 1024;

/**
 * Encodes `sourcePath` below `workFolder` and stores every segment. Resolves when all of them are stored.
 * @throws AppError `encoder-failed`, `disk-full`, or what storage threw; or the signal's reason.
 */
export async function encode(
  tools: MediaTools,
  plan: EncodePlan,
  sourcePath: string,
  workFolder: string,
  store: OutputStore,
  options: EncodeOptions = {},
): Promise<EncodedTrack[]> {
  const folders = [...plan.renditions.map(({ name }) => name), ...(plan.audio ? [audioFolder] : [])];
  for (const folder of folders) await mkdir(join(workFolder, folder), { recursive: true });

  const failure = new AbortController();
  const signal = AbortSignal.any([failure.signal, ...(options.signal ? [options.signal] : [])]);
  const tracker = trackProgress(folders, plan.expectedSeconds, options.onProgress);
  const tracks = new Map(folders.map((name) => [name, { codec: "", segments: [] as StoredSegment[] }]));
  const uploader = segmentUploader({
    store,
    signal,
    onFailure: (error) => failure.abort(error),
    onStored: (segment) => {
      tracks.get(segment.folder)!.segments.push(segment);
      tracker.stored(segment);
      options.onSegmentStored?.(segment);
    },
  });
  const lists = folders.map((folder) =>
    followSegmentList(folder, join(workFolder, folder, segmentListName), 1 / plan.frameRate),
  );
  const collect = async () => {
    for (const segment of (await Promise.all(lists.map((list) => list.readNew()))).flat()) {
      if (segment.number === 1) tracks.get(segment.folder)!.codec = codecOf(segment);
      uploader.add(segment);
    }
  };

  let handle: RunHandle | undefined;
  let isRunning = true;
  const running = run(tools, "ffmpeg", encodeArgs(plan, sourcePath, options.preset ?? "veryfast"), {
    signal,
    cwd: workFolder,
    onStart: (started) => {
      handle = started;
    },
    onStdout: progressReader(tracker.encoded),
  }).finally(() => {
    isRunning = false;
  });
  // Its failure is awaited below, after the last look at the lists.
  running.catch(() => {});

  let isPaused = false;
  try {
    while (isRunning) {
      await Promise.race([running.catch(() => {}), delay(pollMs)]);
      await collect();
      if (!isPaused && uploader.pendingBytes() > backlogBytesMax) {
        isPaused = true;
        handle?.pause();
      } else if (isPaused && uploader.pendingBytes() < backlogBytesMax / 2) {
        isPaused = false;
        handle?.resume();
      }
    }
    const { exitCode, stderrTail } = await running;
    if (exitCode !== 0) throw encoderFailure(exitCode, stderrTail);
    await collect();
    await uploader.drain();
  } catch (cause) {
    const error = await explainFailure(cause, workFolder);
    failure.abort(error);
    await running.catch(() => {});
    throw error;
  }
  return folders.map((name) => {
    const { codec, segments } = tracks.get(name)!;
    if (segments.length === 0) throw encoderFailure(0, `no segment of ${name} was written`);
    return { name, codec, segments: withExactDurations(segments.toSorted((a, b) => a.number - b.number)) };
  });
}

function encoderFailure(exitCode: number, stderrTail: string): AppError {
  const code = /No space left on device/.test(stderrTail) ? "disk-full" : "encoder-failed";
  return new AppError(code, { cause: new Error(`FFmpeg ended with ${exitCode}: ${stderrTail}`) });
}

/** On a full disk FFmpeg leaves torn lists and segments behind, which are met before it says why. */
async function explainFailure(error: unknown, workFolder: string): Promise<unknown> {
  if (error instanceof AppError && error.code !== "encoder-failed") return error;
  const { bavail, bsize } = await statfs(workFolder);
  return bavail * bsize < fullBytes ? new AppError("disk-full", { cause: error }) : error;
}

/** Read from the stream itself, so that the playlist never promises another profile or level than is there. */
function codecOf(segment: CutSegment): string {
  if (segment.folder === audioFolder) return aacCodec;
  if (!segment.video?.avc)
    throw new AppError("encoder-failed", { cause: new Error(`no SPS in ${segment.name}`) });
  return avcCodecString(segment.video.avc);
}

function trackProgress(
  folders: readonly string[],
  secondsTotal: number,
  onProgress: EncodeOptions["onProgress"],
) {
  const storedSeconds = new Map(folders.map((name) => [name, 0]));
  let secondsDone = 0;
  let furthestSeconds = 0;
  let lastFrame = 0;
  const tell = () =>
    onProgress?.({
      secondsDone,
      secondsTotal,
      renditions: folders.map((name) => ({ name, secondsDone: storedSeconds.get(name)! })),
    });
  return {
    encoded({ outTimeSeconds, frame }: FfmpegProgress) {
      const moved = (outTimeSeconds ?? 0) > furthestSeconds || (frame ?? 0) > lastFrame;
      furthestSeconds = Math.max(furthestSeconds, outTimeSeconds ?? 0);
      lastFrame = Math.max(lastFrame, frame ?? 0);
      secondsDone = Math.min(secondsTotal, furthestSeconds);
      if (moved) tell();
    },
    stored({ folder, durationSeconds }: StoredSegment) {
      storedSeconds.set(folder, Math.min(secondsTotal, storedSeconds.get(folder)! + durationSeconds));
      tell();
    },
  };
}
