/** Moves finished segments to storage while the encoder goes on. */
import { unlink } from "node:fs/promises";
import { AppError, toAppError } from "@reelkeep/core/errors";
import { contentTypeOf } from "@reelkeep/core/object-keys";
import PQueue from "p-queue";
import { rejectWhenAborted } from "../reject-when-aborted.ts";
import type { OutputStore, StoredObject } from "./output-store.ts";
import { withRetries } from "./retries.ts";
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
      // An upload that hangs must not keep its worker from leaving.
      await Promise.race([queue.onIdle(), rejectWhenAborted(options.signal)]);
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
