import "server-only";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { defaultUploadLimits } from "@reelkeep/core/upload/policy";
import { z } from "zod";

const optional = z.string().min(1).optional();
const count = (fallback: number) => z.coerce.number().int().positive().default(fallback);

/** What the web server needs from its environment. On AWS, SST passes it; locally, `npm start` does. */
const schema = z.object({
  DATABASE_URL: z.string().min(1),
  APP_URL: z.url(),
  AUTH_SECRET: z.string().min(32),
  OWNER_CODE: z.string().min(8),
  S3_BUCKET: z.string().min(1),
  S3_REGION: z.string().min(1).default("us-east-1"),
  /** Unset on AWS. */
  S3_ENDPOINT: optional,
  S3_ACCESS_KEY_ID: optional,
  S3_SECRET_ACCESS_KEY: optional,
  MEDIA_BASE_URL: z.url(),
  CLOUDFRONT_KEY_PAIR_ID: z.string().min(1),
  CLOUDFRONT_PRIVATE_KEY: z.string().min(1),
  /** The file of the bundle of `services/probe-process.ts`. */
  PROBE_SCRIPT: z.string().min(1),
  PROFILE: z.string().default("hls-ts-v1"),
  PLAYBACK_SECONDS: count(3600),
  QUOTA_BYTES: count(1024 ** 4),
  MULTIPART_THRESHOLD_BYTES: count(defaultUploadLimits.multipartThresholdBytes),
  MULTIPART_PART_BYTES_MIN: count(defaultUploadLimits.partBytesMin),
  MAX_UPLOAD_BYTES: count(defaultUploadLimits.sizeBytesMax),
  MAX_DURATION_SECONDS: count(defaultUploadLimits.durationSecondsMax),
  /** As the dispatcher has it; here it is only shown. So is the budget. */
  WORKERS_MAX: count(defaultJobPolicy.workersMax),
  DAILY_BUDGET_USD: z.coerce.number().positive().optional(),
});

/** Parsed at the first request, not at build time: the build has no environment. */
export const readEnv = () => schema.parse(process.env);
