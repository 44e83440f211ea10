/** The whole way of one local file into verified HLS; jobs and the command line both take it. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { MultivariantPlaylist } from "@reelkeep/core/hls/types";
import type { Stage } from "@reelkeep/core/job/attempt-machine";
import type { EncodingProfile } from "@reelkeep/core/media/profile";
import { playlistName } from "@reelkeep/core/object-keys";
import type { EncoderPreset } from "./ffmpeg/args.ts";
import { cpuEngine, type EncoderEngine } from "./ffmpeg/engines.ts";
import type { MediaTools } from "./ffmpeg/tools.ts";
import { checkDuration } from "./stages/check-duration.ts";
import { type EncodedOutput, type EncodedTrack, encode } from "./stages/encode.ts";
import { clearWorkFolder } from "./stages/encode-pass.ts";
import type { EncodeProgress } from "./stages/encode-progress.ts";
import { EngineRefused } from "./stages/engine-refused.ts";
import {
  type EarlierOutput,
  type OutputStore,
  type StoredObject,
  tellingStore,
} from "./stages/output-store.ts";
import { type EncodePlan, planEncode } from "./stages/plan.ts";
import { planCopies } from "./stages/plan-copy.ts";
import { PlanRefused, plainPlan } from "./stages/plan-refused.ts";
import { secondsOf, storePlaylists } from "./stages/playlists.ts";
import { storePosters } from "./stages/poster.ts";
import { previewWriter } from "./stages/preview.ts";
import { probeSource, type SourceProbe } from "./stages/probe.ts";
import type { StoredSegment } from "./stages/segment-uploader.ts";
import { storeStoryboard } from "./stages/storyboard.ts";
import { storeSubtitles } from "./stages/subtitles.ts";
import { type CompleteRendition, verifyOutput } from "./stages/verify.ts";

export interface TranscodeOptions {
  readonly tools: MediaTools;
  readonly profile: EncodingProfile;
  readonly sourcePath: string;
  /** An empty folder for segments on their way; the caller removes it. */
  readonly workFolder: string;
  readonly store: OutputStore;
  readonly preset?: EncoderPreset;
  /** The processor by default. Where a card fails, the processor takes the whole film over. */
  readonly engine?: EncoderEngine;
  /** Told what makes the pictures before the first one, and again, with the card's failure, when it is replaced. */
  readonly onEngine?: (processor: EncoderEngine["processor"], failure?: unknown) => void | Promise<void>;
  /** A job's: it leaves a preview and checkpoints, and goes on from earlier attempts' outputs, the newest first. */
  readonly earlier?: readonly EarlierOutput[];
  readonly signal?: AbortSignal | undefined;
  /** Told whenever anything moves in any stage (J12): what a watchdog counts. */
  readonly onMove?: () => void;
  readonly onStage?: (stage: Stage) => void;
  readonly onPlan?: (plan: EncodePlan) => void | Promise<void>;
  readonly onProgress?: (progress: EncodeProgress) => void;
  readonly onTakenOver?: (passes: readonly string[]) => void;
  readonly onSegmentStored?: (segment: StoredSegment) => void;
  readonly onRenditionComplete?: (rendition: CompleteRendition) => void | Promise<void>;
}

/** A rendition as the multivariant playlist describes it. */
export interface TranscodedRendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Peak and average in bits per second, sound included. */
  readonly bandwidth: number;
  readonly averageBandwidth: number;
  /** Comma-separated RFC 6381 strings. */
  readonly codecs: string;
  readonly segmentCount: number;
  /** Whether the source's own stream was taken over without encoding. */
  readonly isCopied: boolean;
}

export interface TranscodeResult {
  /** What made it in the end. */
  readonly processor: EncoderEngine["processor"];
  readonly probe: SourceProbe;
  readonly plan: EncodePlan;
  readonly durationSeconds: number;
  readonly hasAudio: boolean;
  /** Largest first. */
  readonly renditions: readonly TranscodedRendition[];
  /** The better first; the first stands for the video until somebody chooses. */
  readonly posterSuggestions: readonly string[];
  readonly storyboardName: string | null;
  /** Every object of the version, as verified in storage. */
  readonly inventory: readonly StoredObject[];
}

/**
 * Probe, plan, encode with upload, playlists, verification.
 * @throws AppError with the stage's code; the signal's reason when aborted.
 */
export async function transcodeFile(options: TranscodeOptions): Promise<TranscodeResult> {
  const { tools, profile, sourcePath, workFolder, signal } = options;
  const onMove = () => options.onMove?.();
  const store = tellingStore(options.store, onMove);
  const enter = (stage: Stage) => {
    onMove();
    options.onStage?.(stage);
  };
  enter("probe");
  const watch = { signal, onMove };
  const probe = await probeSource(tools, sourcePath, profile, watch);
  enter("plan");
  const plan = await planCopies(tools, sourcePath, probe, planEncode(probe, profile), profile, watch);
  await options.onPlan?.(plan);

  enter("encode");
  await options.onEngine?.((options.engine ?? cpuEngine).processor);
  const [encodeFolder, besideFolder] = [join(workFolder, "encode"), join(workFolder, "beside")];
  for (const folder of [encodeFolder, besideFolder]) await mkdir(folder, { recursive: true });
  const { main: encoded, beside: posters } = await withBeside(
    signal,
    () => encodePlanned({ ...options, workFolder: encodeFolder, store, onMove }, plan),
    (ending) => storePosters(tools, plan, sourcePath, besideFolder, store, { onMove, signal: ending }),
  );
  const [top] = encoded.tracks;
  const durationSeconds = secondsOf(top!);
  await checkDuration(tools, sourcePath, probe, durationSeconds, watch);
  const subtitles = await storeSubtitles(
    tools,
    plan,
    sourcePath,
    besideFolder,
    store,
    durationSeconds,
    watch,
  );
  const storyboard = await storeStoryboard(store, encoded.plan, encoded.sheets, durationSeconds, signal);
  const tracks = [...encoded.tracks, ...subtitles];
  const master = await storePlaylists(store, encoded.plan, tracks, signal);

  enter("verify");
  const inventory = await verifyOutput(store, encoded.plan, tracks, options);
  return {
    processor: encoded.processor,
    probe,
    plan: encoded.plan,
    durationSeconds,
    hasAudio: encoded.plan.sounds.length > 0,
    renditions: describeRenditions(master, tracks, encoded.plan),
    posterSuggestions: posters,
    storyboardName: storyboard,
    inventory,
  };
}

/**
 * Small work at the same time as the main one, whose end doesn't wait for it long: where the main work fails, the
 * other is ended, and nothing of either goes on once this has settled.
 */
async function withBeside<Main, Beside>(
  signal: AbortSignal | undefined,
  main: () => Promise<Main>,
  beside: (signal: AbortSignal) => Promise<Beside>,
): Promise<{ main: Main; beside: Beside }> {
  const ending = new AbortController();
  const other = beside(signal ? AbortSignal.any([signal, ending.signal]) : ending.signal);
  // Its failure is awaited once the main work is done.
  other.catch(() => {});
  try {
    return { main: await main(), beside: await other };
  } catch (error) {
    ending.abort(error);
    await other.catch(() => {});
    throw error;
  }
}

/** Encodes by the plan, or the plain way where its short cuts don't fit the source; without a card that fails. */
async function encodePlanned(
  options: TranscodeOptions & { readonly onMove: () => void },
  plan: EncodePlan,
): Promise<EncodedOutput & Pick<TranscodeResult, "plan" | "processor">> {
  const { tools, sourcePath, workFolder, store, signal, onMove, engine = cpuEngine } = options;
  try {
    const preview = options.earlier && previewWriter(store, plan, signal);
    const output = await encode(tools, plan, sourcePath, workFolder, store, {
      ...options,
      preview,
      onProgress: (progress) => {
        onMove();
        options.onProgress?.(progress);
      },
    });
    return { ...output, plan, processor: engine.processor };
  } catch (error) {
    if (error instanceof EngineRefused) {
      await options.onEngine?.(cpuEngine.processor, error.cause);
      await clearWorkFolder(workFolder);
      return await encodePlanned({ ...options, engine: cpuEngine }, plan);
    }
    if (!(error instanceof PlanRefused)) throw error;
    await clearWorkFolder(workFolder);
    return await encodePlanned(options, plainPlan(plan));
  }
}

function describeRenditions(
  { variants }: MultivariantPlaylist,
  tracks: readonly EncodedTrack[],
  plan: EncodePlan,
): TranscodedRendition[] {
  return variants.map((variant) => {
    const track = tracks.find(({ name }) => playlistName(name) === variant.uri)!;
    return {
      name: track.name,
      ...variant.resolution!,
      bandwidth: variant.bandwidthBps,
      averageBandwidth: variant.averageBandwidthBps!,
      codecs: variant.codecs.join(","),
      segmentCount: track.segments.length,
      isCopied: plan.copied !== null && track.name === plan.renditions[0]!.name,
    };
  });
}
