import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { endWithThisProcess } from "./watchdog.ts";

/** For what has to be stopped; the last comes first. */
export type OnStop = (end: () => unknown) => void;

/** What was started on data of its own, and how all of it is stopped. */
export type OnTemporaryData<Parts> = Parts & { readonly dataDir: string; stop(): Promise<void> };

/**
 * Starts servers on a new folder. Stopping ends them and removes the folder; so does a start that fails, and a run
 * that is killed.
 */
export async function startOnTemporaryData<Parts extends object>(
  start: (dataDir: string, onStop: OnStop) => Promise<Parts>,
): Promise<OnTemporaryData<Parts>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "reelkeep-data-"));
  // Root's database server has another account, which must get through.
  chmodSync(dataDir, 0o711);
  const watchdog = endWithThisProcess(dataDir);
  const stops: (() => unknown)[] = [
    () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }),
    () => watchdog.kill(),
  ];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(dataDir, (end) => stops.push(end))), dataDir, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
