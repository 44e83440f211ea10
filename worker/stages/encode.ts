/** Makes the whole ladder, pass by pass, and takes over what an earlier attempt has finished (M5, M7). */
import { AppError } from "@reelkeep/core/errors";
import { avcCodecString } from "@reelkeep/core/media/h264-level";
import { clockStartSeconds, type EncoderPreset } from "../ffmpeg/args.ts";
import { cpuEngine, type EncoderEngine } from "../ffmpeg/engines.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import { takeOver, writeCheckpoint } from "./checkpoints.ts";
import { type CompletedPass, clearWorkFolder, encodePass } from "./encode-pass.ts";
import { type EncodeProgress, trackProgress } from "./encode-progress.ts";
import { EngineRefused } from "./engine-refused.ts";
import type { EarlierOutput, OutputStore, StoredObject } from "./output-store.ts";
import { type Pass, passesOf } from "./passes.ts";
import type { EncodePlan } from "./plan.ts";
import { PlanRefused } from "./plan-refused.ts";
import type { PreviewWriter } from "./preview.ts";
import { withExactDurations } from "./segment-list.ts";
import type { StoredSegment } from "./segment-uploader.ts";

export type TrackKind = "picture" | "sound" | "subtitles";

/** The segments of one folder. */
export interface EncodedTrack {
  readonly kind: TrackKind;
  /** Its folder: the rendition's name, `audio`, … */
  readonly name: string;
  /** RFC 6381, as the stream describes itself. */
  readonly codec: string;
  readonly segments: readonly StoredSegment[];
}

/** What encoding left in storage. */
export interface EncodedOutput {
  readonly tracks: readonly EncodedTrack[];
  /** The storyboard's, by window. */
  readonly sheets: readonly (readonly StoredObject[])[];
}

export interface EncodeOptions {
  readonly preset?: EncoderPreset;
  /** The processor by default. */
  readonly engine?: EncoderEngine;
  readonly signal?: AbortSignal | undefined;
  /** Outputs of earlier attempts of the same job, the newest first; undefined where no later one will ask. */
  readonly earlier?: readonly EarlierOutput[];
  readonly preview?: PreviewWriter | undefined;
  /** Told the passes that an earlier attempt had finished. */
  readonly onTakenOver?: ((passes: readonly string[]) => void) | undefined;
  /** Told only when there is progress. */
  readonly onProgress?: ((progress: EncodeProgress) => void) | undefined;
  readonly onSegmentStored?: ((segment: StoredSegment) => void) | undefined;
}

/** AAC-LC, RFC 6381 §3.3; no other kind is made or taken over. */
const aacCodec = "mp4a.40.2";

/**
 * Encodes `sourcePath` below `workFolder` and stores every segment. Resolves when all of them are stored.
 * @throws PlanRefused when the plan's short cuts don't fit this source; EngineRefused when a card fails; AppError `encoder-failed`, `disk-full`, or
 * what storage threw; or the signal's reason.
 */
export async function encode(
  tools: MediaTools,
  plan: EncodePlan,
  sourcePath: string,
  workFolder: string,
  store: OutputStore,
  options: EncodeOptions = {},
): Promise<EncodedOutput> {
  const { preset = "veryfast", engine = cpuEngine, signal, preview } = options;
  const made = { plan, preset, processor: engine.processor };
  const passes = passesOf(plan);
  const tracker = trackProgress(plan, passes, options.onProgress);
  const told = (segment: StoredSegment) => {
    // Who hears of the smallest rendition's progress may ask for the preview at once.
    void (preview?.add(segment) ?? Promise.resolve()).then(() => tracker.stored(segment));
    options.onSegmentStored?.(segment);
  };
  const note = async (pass: CompletedPass) => {
    if (options.earlier) await writeCheckpoint(store, made, pass, signal);
  };
  const done = await takeOver(options.earlier ?? [], { ...made, passes }, signal);
  if (done.length > 0) options.onTakenOver?.(done.map(({ name }) => name));
  for (const segment of done.flatMap(({ segments }) => Object.values(segments).flat())) told(segment);
  for (const pass of passes.slice(0, done.length)) tracker.skip(pass);
  for (const pass of done) await note(pass);

  for (const pass of passes.slice(done.length)) {
    const order = { plan, pass, sourcePath, preset, engine, firstSegment: firstSegment(pass, done) };
    const completed = await encodePass(order, {
      ...{ tools, store, workFolder, signal },
      onProgress: (progress) => tracker.encoded(pass, progress),
      onStored: told,
      firstSheet: 1 + done.reduce((count, { sheets }) => count + sheets.length, 0),
    }).catch((error: unknown) => {
      if (engine.usesCard && error instanceof AppError && cardFailures.includes(error.code))
        throw new EngineRefused(error);
      const isOurs = error instanceof AppError && ["encoder-failed", "unreadable-file"].includes(error.code);
      if (isOurs && (plan.copied || plan.windows.length > 1)) throw new PlanRefused(error);
      throw error;
    });
    requireWholeWindow(plan, pass, completed);
    await clearWorkFolder(workFolder);
    await note(completed);
    done.push(completed);
  }
  await preview?.settle();
  const tracks = [
    ...plan.renditions.map(({ name }) => assemble("picture", name, done)),
    ...plan.sounds.map(({ folder }) => assemble("sound", folder, done)),
  ];
  requireFittingCopy(plan, tracks);
  return { tracks, sheets: done.filter((_, i) => passes[i]!.window).map(({ sheets }) => sheets) };
}

/** What a card's fault may look like; a file's looks the same, and is told from it by trying without the card. */
const cardFailures: readonly string[] = ["encoder-failed", "unreadable-file", "too-demanding"];

/** Windows number their segments on from the ones before. */
function firstSegment(pass: Pass, done: readonly CompletedPass[]): number {
  const counts = pass.renditions.map(({ name }) =>
    done.reduce((count, { segments }) => count + (segments[name]?.length ?? 0), 0),
  );
  return 1 + Math.max(0, ...counts);
}

function assemble(kind: TrackKind, name: string, done: readonly CompletedPass[]): EncodedTrack {
  const segments = withExactDurations(done.flatMap((pass) => pass.segments[name] ?? []));
  return { kind, name, codec: codecOf(kind, segments[0]!), segments };
}

/** Read from the stream itself, so that the playlist never promises another profile or level than is there. */
function codecOf(kind: TrackKind, first: StoredSegment): string {
  if (kind === "sound") return aacCodec;
  if (!first.video?.avc)
    throw new AppError("encoder-failed", { cause: new Error(`no SPS in ${first.name}`) });
  return avcCodecString(first.video.avc);
}

/** How late a window's first picture may come where frames are far apart. */
const lateSecondsMax = 0.5;

/** Seeking that went too far would lose pictures between two windows. */
function requireWholeWindow(plan: EncodePlan, { window }: Pass, { segments }: CompletedPass): void {
  if (!window || window.startSeconds === 0) return;
  const lateMax = Math.max(lateSecondsMax, 2 / plan.frameRate);
  for (const [name, [first]] of Object.entries(segments)) {
    const late = first!.video!.firstSeconds - clockStartSeconds - window.startSeconds;
    if (late > lateMax)
      throw new PlanRefused(
        new Error(`${name} begins ${late} s after its window, at ${window.startSeconds}`),
      );
  }
}

/** A stream that is taken over has to be cut where the others are, and to be one stream all along. */
function requireFittingCopy(plan: EncodePlan, tracks: readonly EncodedTrack[]): void {
  if (!plan.copied) return;
  const [copied, ...others] = tracks.filter(({ kind }) => kind === "picture");
  const { sps } = copied!.segments[0]!.video!;
  const isOneStream = copied!.segments.every(
    ({ video }) => video?.startsWithIdr && video.sps === sps && sps !== "",
  );
  const frameSeconds = 1 / plan.frameRate;
  const isAligned = others.every(
    ({ segments }) =>
      segments.length === copied!.segments.length &&
      segments.every(
        ({ video }, i) =>
          Math.abs(video!.firstSeconds - copied!.segments[i]!.video!.firstSeconds) < frameSeconds,
      ),
  );
  if (!isOneStream || !isAligned)
    throw new PlanRefused(
      new Error(isOneStream ? "the copied stream is cut at other times" : "the copied stream changes"),
    );
}
