import { S3Client } from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";

/** Which bucket, where. Without an endpoint it is Amazon's; without credentials, the machine's role is used. */
export interface StorageConfig {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint?: string | undefined;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** The variables by which every process is told its storage. */
interface StorageEnvironment {
  readonly S3_BUCKET: string;
  readonly S3_REGION: string;
  readonly S3_ENDPOINT?: string | undefined;
  readonly S3_ACCESS_KEY_ID?: string | undefined;
  readonly S3_SECRET_ACCESS_KEY?: string | undefined;
}

/** The storage that a process's checked environment names. Half a pair of keys is none. */
export const storageConfigOf = (env: StorageEnvironment): StorageConfig => ({
  bucket: env.S3_BUCKET,
  region: env.S3_REGION,
  endpoint: env.S3_ENDPOINT,
  credentials:
    env.S3_ACCESS_KEY_ID && env.S3_SECRET_ACCESS_KEY
      ? { accessKeyId: env.S3_ACCESS_KEY_ID, secretAccessKey: env.S3_SECRET_ACCESS_KEY }
      : undefined,
});

/** A client for `config`. Endpoints other than Amazon's get the bucket in the path, not in the host's name. */
export const createS3Client = (config: StorageConfig): S3Client =>
  new S3Client({
    region: config.region,
    ...(config.endpoint ? { endpoint: config.endpoint, forcePathStyle: true } : {}),
    ...(config.credentials ? { credentials: config.credentials } : {}),
    // A presigned PUT must not carry the checksum of an empty body, which is what the default would sign.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 4,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 5_000,
      // No byte for so long, in either direction.
      socketTimeout: 30_000,
    }),
  });
