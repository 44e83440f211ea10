/** Moves finished segments to storage while the encoder goes on. */
import { unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { AppError, toAppError } from "@reelkeep/core/errors";
import { contentTypeOf } from "@reelkeep/core/object-keys";
import PQueue from "p-queue";
import type { OutputStore, StoredObject } from "./output-store.ts";
import type { CutSegment } from "./segment-list.ts";

/** A segment in storage. */
export interface StoredSegment extends Omit<CutSegment, "path"> {
  readonly etag: string;
}

export interface SegmentUploader {
  /** Begins to store a segment; its local file is deleted once storage has confirmed it. */
  readonly add: (segment: CutSegment) => void;
  /** Bytes that wait or are under way. */
  readonly pendingBytes: () => number;
  /** Waits for everything added. @throws the first failure. */
  readonly drain: () => Promise<void>;
}

const concurrency = 4;

/**
 * `onFailure` is called once, with the first segment that can't be stored after all tries; nothing is started
 * after that. Storage that confirms another size than the file's is a failure too.
 */
export function segmentUploader(options: {
  readonly store: OutputStore;
  readonly signal: AbortSignal;
  readonly onStored: (segment: StoredSegment) => void;
  readonly onFailure: (error: AppError) => void;
}): SegmentUploader {
  const queue = new PQueue({ concurrency });
  let pendingBytes = 0;
  let failure: AppError | null = null;

  const store = async (segment: CutSegment) => {
    if (failure || options.signal.aborted) return;
    const { path, ...facts } = segment;
    const stored = await withRetries(
      () => options.store.put(segment.name, path, contentTypeOf(segment.name), options.signal),
      options.signal,
    );
    requireSize(stored, segment.sizeBytes);
    await unlink(path);
    pendingBytes -= segment.sizeBytes;
    options.onStored({ ...facts, etag: stored.etag });
  };

  return {
    add(segment) {
      pendingBytes += segment.sizeBytes;
      queue
        .add(() => store(segment))
        .catch((error: unknown) => {
          if (failure) return;
          failure = toAppError(error, "storage-unavailable");
          queue.clear();
          options.onFailure(failure);
        });
    },
    pendingBytes: () => pendingBytes,
    async drain() {
      await queue.onIdle();
      options.signal.throwIfAborted();
      if (failure) throw failure;
    },
  };
}

function requireSize(stored: StoredObject, sizeBytes: number): void {
  if (stored.sizeBytes !== sizeBytes)
    throw new AppError("verification-failed", {
      cause: new Error(`${stored.name} has ${stored.sizeBytes} bytes in storage, ${sizeBytes} here`),
    });
}

const retryDelaysSeconds = [0.2, 1, 3, 10];

/**
 * Tries again after failures that are marked retryable, with growing pauses (half of each is random, so that
 * workers don't knock together). @throws the last failure, or the signal's reason.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (const pauseSeconds of retryDelaysSeconds) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof AppError) || !error.retryable) throw error;
      await delay(pauseSeconds * 1000 * (0.5 + Math.random() / 2), undefined, signal ? { signal } : {});
    }
  }
  return attempt();
}
