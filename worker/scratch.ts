/** The worker's own disk space: checked before it is used, and always given back (M9). */
import { mkdir, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { scratchBytesNeeded } from "@reelkeep/core/fleet/machine-types";

/** A folder that is removed at the end of `await using`. */
export interface Scratch extends AsyncDisposable {
  readonly folder: string;
}

const folderPattern = /^reelkeep-(\d+)-/;

/**
 * Makes a scratch folder below `base` for a source of this size, after leftovers of dead processes are swept.
 * @throws AppError `disk-full` when less is free than `scratchBytesNeeded` says.
 */
export async function openScratch(base: string, sourceBytes: number): Promise<Scratch> {
  await mkdir(base, { recursive: true });
  await sweepLeftovers(base);
  const { bavail, bsize } = await statfs(base);
  const freeBytes = bavail * bsize;
  const neededBytes = scratchBytesNeeded(sourceBytes);
  if (freeBytes < neededBytes) throw new AppError("disk-full", { details: { freeBytes, neededBytes } });
  const folder = await mkdtemp(join(base, `reelkeep-${process.pid}-`));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Removes scratch folders whose process is gone: killed ones couldn't do it themselves. */
async function sweepLeftovers(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = Number(folderPattern.exec(name)?.[1]);
    if (pid > 0 && pid !== process.pid && !isAlive(pid))
      await rm(join(base, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
