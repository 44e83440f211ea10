/** The whole way of one local file into verified HLS; jobs and the command line both take it. */
import { join } from "node:path";
import type { MultivariantPlaylist } from "@reelkeep/core/hls/types";
import type { Stage } from "@reelkeep/core/job/attempt-machine";
import type { EncodingProfile } from "@reelkeep/core/media/profile";
import { contentTypeOf, playlistName, posterName } from "@reelkeep/core/object-keys";
import type { EncoderPreset } from "./ffmpeg/args.ts";
import type { MediaTools } from "./ffmpeg/tools.ts";
import { checkDuration } from "./stages/check-duration.ts";
import { type EncodedTrack, type EncodeProgress, encode } from "./stages/encode.ts";
import { type OutputStore, type StoredObject, tellingStore } from "./stages/output-store.ts";
import { type EncodePlan, planEncode } from "./stages/plan.ts";
import { secondsOf, storePlaylists } from "./stages/playlists.ts";
import { makePoster } from "./stages/poster.ts";
import { probeSource, type SourceProbe } from "./stages/probe.ts";
import { withRetries } from "./stages/retries.ts";
import type { StoredSegment } from "./stages/segment-uploader.ts";
import { type CompleteRendition, verifyOutput } from "./stages/verify.ts";

export interface TranscodeOptions {
  readonly tools: MediaTools;
  readonly profile: EncodingProfile;
  readonly sourcePath: string;
  /** An empty folder for segments on their way; the caller removes it. */
  readonly workFolder: string;
  readonly store: OutputStore;
  readonly preset?: EncoderPreset;
  readonly signal?: AbortSignal | undefined;
  /** Told whenever anything moves in any stage (J12): what a watchdog counts. */
  readonly onMove?: () => void;
  readonly onStage?: (stage: Stage) => void;
  readonly onPlan?: (plan: EncodePlan) => void | Promise<void>;
  readonly onProgress?: (progress: EncodeProgress) => void;
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
  readonly probe: SourceProbe;
  readonly plan: EncodePlan;
  readonly durationSeconds: number;
  readonly hasAudio: boolean;
  /** Largest first. */
  readonly renditions: readonly TranscodedRendition[];
  readonly posterName: string | null;
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
  const probe = await probeSource(tools, sourcePath, profile, { signal, onMove });
  enter("plan");
  const plan = planEncode(probe, profile);
  await options.onPlan?.(plan);

  enter("encode");
  const tracks = await encode(tools, plan, sourcePath, workFolder, store, {
    ...options,
    onProgress: (progress) => {
      onMove();
      options.onProgress?.(progress);
    },
  });
  const durationSeconds = secondsOf(tracks[0]!);
  await checkDuration(tools, sourcePath, probe, durationSeconds, { signal, onMove });
  const poster = await storePoster({ ...options, store }, plan);
  const master = await storePlaylists(store, plan, tracks, signal);

  enter("verify");
  const inventory = await verifyOutput(store, plan, tracks, options);
  return {
    probe,
    plan,
    durationSeconds,
    hasAudio: plan.audio !== null,
    renditions: describeRenditions(master, tracks),
    posterName: poster,
    inventory,
  };
}

async function storePoster(options: TranscodeOptions, plan: EncodePlan): Promise<string | null> {
  const { tools, sourcePath, workFolder, store, signal, onMove } = options;
  const name = posterName(1);
  const path = join(workFolder, name);
  if (!(await makePoster(tools, plan, sourcePath, path, { signal, onMove }))) return null;
  await withRetries(() => store.put(name, path, contentTypeOf(name), signal), signal);
  return name;
}

function describeRenditions(
  { variants }: MultivariantPlaylist,
  tracks: readonly EncodedTrack[],
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
      isCopied: false,
    };
  });
}
