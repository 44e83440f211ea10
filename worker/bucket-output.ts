import type { ObjectStore } from "@reelkeep/aws/object-store";
import { AppError } from "@reelkeep/core/errors";
import type { EarlierOutput, OutputStore, StoredObject } from "./stages/output-store.ts";

/** Segments and posters never change below their prefix; playlists are read again and again while a job runs. */
const yearSeconds = 31_536_000;
const cacheControlOf = (name: string, changes: boolean) =>
  changes ? "no-store" : name.endsWith(".m3u8") ? "max-age=60" : `max-age=${yearSeconds}, immutable`;

/** What an earlier attempt wrote below `earlierPrefix`, to be taken over below `prefix`. */
export function earlierOutput(store: ObjectStore, earlierPrefix: string, prefix: string): EarlierOutput {
  return {
    readText: (name, signal) => store.readText(earlierPrefix + name, signal),
    async copyHere({ name, etag, sizeBytes }, signal) {
      const copy = await store.copy(earlierPrefix + name, prefix + name, { etag, signal });
      return copy === null ? null : { name, etag: copy, sizeBytes };
    },
  };
}

/** One attempt's prefix of the bucket as the place where its output goes. */
export function bucketOutput(store: ObjectStore, prefix: string): OutputStore {
  const options = (name: string, contentType: string, signal: AbortSignal | undefined, changes = false) => ({
    contentType,
    cacheControl: cacheControlOf(name, changes),
    signal,
  });
  return {
    async put(name, filePath, contentType, signal) {
      return { name, ...(await store.putFile(prefix + name, filePath, options(name, contentType, signal))) };
    },
    async putText(name, text, contentType, signal, changes) {
      const stored = await store.putText(prefix + name, text, options(name, contentType, signal, changes));
      return { name, ...stored };
    },
    async readText(name, signal) {
      try {
        return await store.readText(prefix + name, signal);
      } catch (error) {
        // The store speaks of sources; what is missing here was written by this attempt.
        if (!(error instanceof AppError && error.code === "source-gone")) throw error;
        throw new AppError("verification-failed", { cause: error });
      }
    },
    async list(signal) {
      const found: StoredObject[] = [];
      for await (const { key, ...object } of store.list(prefix, signal))
        found.push({ name: key.slice(prefix.length), ...object });
      return found;
    },
  };
}
