import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { S3Client } from "@aws-sdk/client-s3";
import { type RunningS3, type S3Options, startS3 } from "../server.ts";

export const bucket = "reelkeep-test";
export const credentials = { accessKeyId: "AKTEST", secretAccessKey: "a secret of the tests" };
export const region = "eu-central-1";

/** A local S3 on a folder of its own, and a real client for it. */
export interface TestStorage {
  readonly s3: RunningS3;
  readonly client: S3Client;
  readonly dataDir: string;
  /** What the adapters in aws/ take. */
  readonly config: {
    bucket: string;
    region: string;
    endpoint: string;
    credentials: typeof credentials;
  };
  /** How many files of bytes there are. */
  countFiles(): Promise<number>;
  /** Closes it; the folder stays, for another one to open. */
  close(): Promise<void>;
  /** Closes it and removes the folder. */
  stop(): Promise<void>;
}

export const newDataDir = (): Promise<string> => mkdtemp(path.join(tmpdir(), "reelkeep-s3-"));

export async function startTestStorage(options: Partial<S3Options> = {}): Promise<TestStorage> {
  const dataDir = options.dataDir ?? (await newDataDir());
  const s3 = await startS3({
    host: "127.0.0.1",
    port: 0,
    region,
    ...credentials,
    buckets: [bucket],
    ...options,
    dataDir,
  });
  const client = clientFor(s3.url);
  const close = async () => {
    client.destroy();
    await s3.close();
  };
  return {
    s3,
    client,
    dataDir,
    config: { bucket, region, endpoint: s3.url, credentials },
    countFiles: () => countFiles(dataDir),
    close,
    async stop() {
      await close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function countFiles(dataDir: string): Promise<number> {
  const entries = await readdir(path.join(dataDir, "files"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

export const clientFor = (endpoint: string, options: Partial<typeof credentials> = {}): S3Client =>
  new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { ...credentials, ...options },
    maxAttempts: 1,
  });

/** The S3 error code that a command fails with; fails itself where the command succeeds. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as Error).name;
  }
  throw new Error("expected a failure");
}
