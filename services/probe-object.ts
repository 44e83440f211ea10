import type { ObjectStore } from "@reelkeep/aws/object-store";
import { AppError } from "@reelkeep/core/errors";
import type { VideoContainer } from "@reelkeep/core/upload/signature";
import { CustomSource, Input, MATROSKA, MP4, MPEG_TS, QTFF, WEBM } from "mediabunny";

/** What a cheap look into the container told; null where it can't tell, and ffprobe will decide. */
export interface ContainerFacts {
  readonly durationSeconds: number | null;
  readonly width: number | null;
  readonly height: number | null;
  /** False only where the container lists its tracks and none is a picture. */
  readonly hasVideo: boolean | null;
}

const unknown: ContainerFacts = { durationSeconds: null, width: null, height: null, hasVideo: null };

/** Containers that mediabunny reads well enough to refuse by; the others are ffprobe's. */
const readable: readonly VideoContainer[] = ["mp4", "matroska", "mpeg-ts"];

/** The cheap probe reads a few ranges, never the file: an index at the end costs two. */
const bytesMax = 64 * 1024 * 1024;
const probeMs = 20_000;

/**
 * U5: duration, size and tracks of a stored object over ranged reads, before any worker is paid for. It can only
 * say what it is sure of; a container that it can't read is admitted, and ffprobe decides.
 *
 * The list of formats is spelled out: mediabunny's "all formats" has HLS, and a playlist named .mp4 would make it
 * fetch the playlist's addresses.
 *
 * @throws AppError `source-changed` or `storage-unavailable`; never for what the file holds.
 */
export async function probeObject(
  store: Pick<ObjectStore, "readRange">,
  object: { key: string; etag: string; sizeBytes: number; container: VideoContainer },
): Promise<ContainerFacts> {
  if (!readable.includes(object.container)) return unknown;
  let bytesRead = 0;
  let storageError: AppError | undefined;
  const source = new CustomSource({
    getSize: () => object.sizeBytes,
    read: async (start, end) => {
      bytesRead += end - start;
      if (bytesRead > bytesMax) throw new Error("the container wants too much reading");
      try {
        return await store.readRange(object.key, start, end, object.etag);
      } catch (error) {
        if (error instanceof AppError) storageError = error;
        throw error;
      }
    },
  });
  const input = new Input({ source, formats: [MP4, QTFF, MATROSKA, WEBM, MPEG_TS] });
  try {
    return await withTimeout(readFacts(input, object.container), probeMs);
  } catch {
    if (storageError) throw storageError;
    return unknown;
  } finally {
    input.dispose();
  }
}

async function readFacts(input: Input, container: VideoContainer): Promise<ContainerFacts> {
  const tracks = await input.getTracks();
  const video = await input.getPrimaryVideoTrack();
  // Of a transport stream it doesn't know every codec, so there an absent picture proves nothing.
  if (!video) return { ...unknown, hasVideo: tracks.length > 0 && container !== "mpeg-ts" ? false : null };
  // Timestamps may begin anywhere, in broadcast recordings at hours.
  const durationSeconds = (await video.computeDuration()) - Math.max(0, await input.getFirstTimestamp());
  return {
    durationSeconds: Number.isFinite(durationSeconds) && durationSeconds > 0 ? durationSeconds : null,
    width: (await video.getDisplayWidth()) || null,
    height: (await video.getDisplayHeight()) || null,
    hasVideo: true,
  };
}

async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the probe took too long")), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
