import {
  BucketAlreadyOwnedByYou,
  CreateBucketCommand,
  PutBucketCorsCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { createS3Client, type StorageConfig } from "./storage-config.ts";

/**
 * Makes the bucket where it is missing, and lets browsers of `origins` send files to it in parts: that needs POST
 * and DELETE beside PUT, and the part's ETag readable. On AWS the infrastructure's description does the same.
 */
export async function ensureBucket(config: StorageConfig, origins: readonly string[]): Promise<void> {
  const client = createS3Client(config);
  try {
    await createOnce(client, config.bucket);
    await client.send(
      new PutBucketCorsCommand({
        Bucket: config.bucket,
        CORSConfiguration: {
          CORSRules: [
            {
              AllowedOrigins: [...origins],
              AllowedMethods: ["GET", "HEAD", "PUT", "POST", "DELETE"],
              AllowedHeaders: ["*"],
              ExposeHeaders: ["ETag", "x-amz-error-code"],
              MaxAgeSeconds: 3000,
            },
          ],
        },
      }),
    );
  } finally {
    client.destroy();
  }
}

async function createOnce(client: S3Client, bucket: string): Promise<void> {
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
  }
}
