import type { ObjectStore } from "@reelkeep/aws/object-store";
import { AppError } from "@reelkeep/core/errors";
import type { OutputStore, StoredObject } from "./stages/output-store.ts";

/** Segments and posters never change below their prefix; playlists are read again and again while a job runs. */
const yearSeconds = 31_536_000;
const cacheControlOf = (name: string) =>
  name.endsWith(".m3u8") ? "max-age=60" : `max-age=${yearSeconds}, immutable`;

/** One attempt's prefix of the bucket as the place where its output goes. */
export function bucketOutput(store: ObjectStore, prefix: string): OutputStore {
  const options = (name: string, contentType: string, signal: AbortSignal | undefined) => ({
    contentType,
    cacheControl: cacheControlOf(name),
    signal,
  });
  return {
    async put(name, filePath, contentType, signal) {
      return { name, ...(await store.putFile(prefix + name, filePath, options(name, contentType, signal))) };
    },
    async putText(name, text, contentType, signal) {
      return { name, ...(await store.putText(prefix + name, text, options(name, contentType, signal))) };
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
