import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import { startS3 } from "../s3/server.ts";

/** Our local S3 on a free port, with an empty bucket, for one test file. */
export interface TestStorage extends StorageConfig {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  stop(): Promise<void>;
}

/** `eventTarget`: where created objects are told. */
export async function startTestStorage(
  options: { eventTarget?: string; corsOrigins?: string[] } = {},
): Promise<TestStorage> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "reelkeep-s3-"));
  const credentials = { accessKeyId: "test-access-key", secretAccessKey: "test-secret-key" };
  const region = "us-east-1";
  const bucket = "reelkeep";
  const s3 = await startS3({
    ...credentials,
    ...options,
    region,
    dataDir,
    host: "127.0.0.1",
    port: 0,
    buckets: [bucket],
  });
  return {
    bucket,
    region,
    endpoint: s3.url,
    credentials,
    async stop() {
      await s3.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
