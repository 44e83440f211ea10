import { randomUUID } from "node:crypto";
import { closeSync, createWriteStream, fsyncSync, mkdirSync, openSync } from "node:fs";
import { type FileHandle, open, readdir, unlink } from "node:fs/promises";
import path from "node:path";
import { Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";

/** A stretch of an object's bytes: one file. Multipart objects have one per part, and copies share them. */
export interface Piece {
  readonly file: string;
  readonly sizeBytes: number;
}

/**
 * Files of bytes, each written once under a random name and never changed. What a file means is the catalogue's
 * matter: one that it doesn't name is nobody's, and is removed at the next start. So nothing is ever half there,
 * and no name of a client's touches the file system.
 */
export interface Shelf {
  /**
   * Makes a file of what `fill` writes, and answers once it would outlive a power cut. Where `fill` throws,
   * nothing stays.
   */
  write<T>(fill: (destination: Writable) => Promise<T>): Promise<{ file: string; result: T }>;
  /** The bytes `first` to `last`, both included. Files that are read outlive their removal until the end. */
  read(pieces: readonly Piece[], first: number, last: number): Readable;
  /** Removes files. One that can't be removed now is found at the next start. */
  remove(files: readonly string[]): Promise<void>;
  /** Removes every file for which `isOwned` is false. Only before anything is written. */
  sweep(isOwned: (file: string) => boolean): Promise<void>;
}

/** Files are spread over this many folders, because listing a folder of a million is slow. */
const folders = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, "0"));
const blockBytes = 1024 * 1024;

export function openShelf(root: string): Shelf {
  for (const folder of folders) mkdirSync(path.join(root, folder), { recursive: true });
  for (const folder of [root, path.dirname(root)]) {
    const opened = openSync(folder, "r");
    fsyncSync(opened);
    closeSync(opened);
  }
  const pathOf = (file: string) => path.join(root, file.slice(0, 2), file);
  const readers = new Map<string, number>();
  const doomed = new Set<string>();

  const removeNow = (file: string) => unlink(pathOf(file)).catch(() => {});
  const release = (files: readonly string[]) => {
    for (const file of files) {
      const left = readers.get(file)! - 1;
      if (left > 0) readers.set(file, left);
      else {
        readers.delete(file);
        if (doomed.delete(file)) void removeNow(file);
      }
    }
  };

  return {
    async write(fill) {
      const file = randomUUID().replaceAll("-", "");
      // flush: synced to the disk before it is closed.
      const destination = createWriteStream(pathOf(file), {
        flags: "wx",
        flush: true,
        highWaterMark: 4 * blockBytes,
      });
      try {
        const result = await fill(destination);
        await finished(destination);
        await syncFolder(path.dirname(pathOf(file)));
        return { file, result };
      } catch (error) {
        await closed(destination);
        await removeNow(file);
        throw error;
      }
    },

    read(pieces, first, last) {
      const stretches = stretchesOf(pieces, first, last);
      const files = stretches.map(({ file }) => file);
      for (const file of files) readers.set(file, (readers.get(file) ?? 0) + 1);
      const stream = Readable.from(
        (async function* () {
          for (const { file, start, end } of stretches) {
            const handle: FileHandle = await open(pathOf(file), "r");
            yield* handle.createReadStream({ start, end, highWaterMark: blockBytes });
          }
        })(),
        { objectMode: false, highWaterMark: blockBytes },
      );
      return stream.once("close", () => release(files));
    },

    async remove(files) {
      for (const file of files) {
        if (readers.has(file)) doomed.add(file);
        else await removeNow(file);
      }
    },

    async sweep(isOwned) {
      for (const folder of folders)
        for (const file of await readdir(path.join(root, folder))) if (!isOwned(file)) await removeNow(file);
    },
  };
}

/** Which part of which file the bytes `first` to `last` are; `end` is included. */
function stretchesOf(pieces: readonly Piece[], first: number, last: number) {
  const stretches: { file: string; start: number; end: number }[] = [];
  let offset = 0;
  for (const { file, sizeBytes } of pieces) {
    const start = Math.max(first - offset, 0);
    const end = Math.min(last - offset, sizeBytes - 1);
    if (start <= end) stretches.push({ file, start, end });
    offset += sizeBytes;
  }
  return stretches;
}

const closed = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    if (stream.closed) return resolve();
    stream.once("close", resolve).once("error", () => {});
    stream.destroy();
  });

/** A new file's name lies in its folder; without this it may be lost in a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
