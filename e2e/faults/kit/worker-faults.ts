import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach } from "vitest";
import { poll } from "./poll.ts";

/** Faults inside of workers' processes, by a script that is loaded before their own ({@link ./worker-preload.ts}). */
export interface WorkerFaults {
  /** For the stack's `workerEnv`. */
  readonly env: Readonly<Record<string, string>>;
  /** Workers that start from now on take it to be so much later; earlier, where it is negative. */
  setClocksOff(seconds: number): void;
  /**
   * Blocks a thread of one worker: neither code nor timer of it has its turn. Answers once it is blocked.
   *
   * @param seconds for how long; without it, for ever.
   */
  block(thread: "main" | "lease", seconds?: number): Promise<void>;
}

/** For the stacks of a file. What a test leaves is taken away after it. */
export function workerFaultsForFile(): WorkerFaults {
  const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-worker-faults-"));
  const write = (name: string, ms: number): string => {
    const file = path.join(folder, name);
    // Whole at once: a worker looks for it all the time.
    writeFileSync(`${file}.new`, String(ms));
    renameSync(`${file}.new`, file);
    return file;
  };
  const names = ["clock-off-ms", "block-main-ms", "block-lease-ms"];
  afterEach(() => {
    for (const name of names) rmSync(path.join(folder, name), { force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    env: {
      NODE_OPTIONS: `--import=${new URL("./worker-preload.ts", import.meta.url)}`,
      WORKER_FAULTS_DIR: folder,
    },
    setClocksOff: (seconds) => void write("clock-off-ms", seconds * 1000),
    async block(thread, seconds = Number.POSITIVE_INFINITY) {
      const file = write(`block-${thread}-ms`, seconds * 1000);
      await poll(`the ${thread} thread is blocked`, () => !existsSync(file));
    },
  };
}
