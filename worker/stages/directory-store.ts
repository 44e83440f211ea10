/** A folder as an output store, for the command line and for tests. */
import { copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { OutputStore, StoredObject } from "./output-store.ts";

/** Files appear whole or not at all. An ETag is made of size and time of change. */
export function directoryStore(folder: string): OutputStore {
  const describe = async (path: string): Promise<StoredObject> => {
    const { size, mtimeMs } = await stat(path);
    return {
      name: relative(folder, path).split(sep).join("/"),
      sizeBytes: size,
      etag: `"${size.toString(16)}-${Math.round(mtimeMs).toString(16)}"`,
    };
  };
  const place = async (name: string, write: (temporary: string) => Promise<void>) => {
    const path = join(folder, ...name.split("/"));
    const temporary = `${path}.part`;
    await mkdir(dirname(path), { recursive: true });
    await write(temporary);
    await rename(temporary, path);
    return describe(path);
  };
  return {
    put: (name, filePath) => place(name, (temporary) => copyFile(filePath, temporary)),
    putText: (name, text) => place(name, (temporary) => writeFile(temporary, text)),
    readText: (name) => readFile(join(folder, ...name.split("/")), "utf8"),
    async list() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return Promise.all(files.map((entry) => describe(join(entry.parentPath, entry.name))));
    },
  };
}
