import { mkdirSync, openSync, renameSync, statSync } from "node:fs";
import path from "node:path";

const logBytesMax = 5 * 1024 * 1024;

/** Opens a log to append to, and answers its descriptor. One that has grown long becomes `{file}.1` first. */
export function openLogFile(file: string): number {
  mkdirSync(path.dirname(file), { recursive: true });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(file, `${file}.1`);
  return openSync(file, "a", 0o600);
}
