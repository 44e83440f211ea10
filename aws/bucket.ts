import {
  BucketAlreadyOwnedByYou,
  CreateBucketCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  type S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { incompleteUploadDays } from "@reelkeep/core/upload/policy";
import { createS3Client, type StorageConfig } from "./storage-config.ts";

/**
 * Makes the bucket where it is missing, lets browsers of `origins` send files to it in parts (that needs POST and
 * DELETE beside PUT, and the part's ETag readable), and lets it abort what stays incomplete. On AWS the
 * infrastructure's description does the same.
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
    await ensureAbortRule(client, config.bucket);
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

const abortRuleId = "abort-incomplete-uploads";

/** U7. A PUT replaces all rules, so those that somebody else made are sent along. */
async function ensureAbortRule(client: S3Client, bucket: string): Promise<void> {
  const rules = await lifecycleRules(client, bucket);
  const own = rules.find(({ ID }) => ID === abortRuleId);
  const isInForce =
    own?.Status === "Enabled" &&
    own.Filter?.Prefix === "" &&
    own.AbortIncompleteMultipartUpload?.DaysAfterInitiation === incompleteUploadDays;
  if (isInForce) return;
  const rule: LifecycleRule = {
    ID: abortRuleId,
    Status: "Enabled",
    Filter: { Prefix: "" },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: incompleteUploadDays },
  };
  await client.send(
    new PutBucketLifecycleConfigurationCommand({
      Bucket: bucket,
      LifecycleConfiguration: { Rules: [...rules.filter((each) => each !== own), rule] },
    }),
  );
}

async function lifecycleRules(client: S3Client, bucket: string): Promise<LifecycleRule[]> {
  try {
    const { Rules } = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    return Rules ?? [];
  } catch (error) {
    if (error instanceof S3ServiceException && error.name === "NoSuchLifecycleConfiguration") return [];
    throw error;
  }
}
