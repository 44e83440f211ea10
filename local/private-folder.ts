import { chmodSync, mkdirSync } from "node:fs";

/** Makes a folder that only its owner enters. One that exists gets the mode too: it may be an earlier release's. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}
