import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { bucket, credentials, region } from "./test-storage.ts";

/** The local S3 as the process that it is in the local stack. */
export interface StorageProcess {
  readonly process: ChildProcess;
  readonly url: string;
  /** Ends it in no order at all, as a crash does. */
  kill(): Promise<void>;
}

/** Starts `main.ts` on a folder and waits until it serves. */
export async function startStorageProcess(
  dataDir: string,
  port: number,
  env: object = {},
): Promise<StorageProcess> {
  const child = fork(path.join(import.meta.dirname, "..", "main.ts"), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: [],
    env: {
      ...process.env,
      REELKEEP_S3_DIR: dataDir,
      REELKEEP_S3_PORT: String(port),
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      S3_REGION: region,
      S3_BUCKET: bucket,
      ...env,
    },
  });
  const gone = once(child, "exit");
  const first = await Promise.race([once(child, "message"), gone.then(() => null)]);
  if (first?.[0] !== "ready") throw new Error("storage didn't start");
  return {
    process: child,
    url: `http://127.0.0.1:${port}`,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
