import type { StorageConfig } from "@reelkeep/aws/storage-config";
import { bundlePath } from "./bundle.ts";
import type { Secrets } from "./secrets.ts";
import type { LocalSettings } from "./settings.ts";

type Variables = Readonly<Record<string, string>>;

/** Addresses, and the environment that each kind of process gets. On AWS, the infrastructure gives the same. */
export interface Environment {
  readonly urls: { readonly app: string; readonly media: string; readonly storage: string };
  readonly storage: StorageConfig;
  readonly forStorage: Variables;
  readonly forSite: Variables;
  readonly forWorkers: Variables;
}

/** The name `localhost` in all of them, because cookies of the site must reach the CDN's port. */
export function createEnvironment(parts: {
  settings: LocalSettings;
  secrets: Secrets;
  databaseUrl: string;
}): Environment {
  const { settings, secrets, databaseUrl } = parts;
  const urls = {
    app: `http://localhost:${settings.REELKEEP_PORT}`,
    media: `http://localhost:${settings.REELKEEP_CDN_PORT}`,
    storage: `http://localhost:${settings.REELKEEP_S3_PORT}`,
  };
  const storage = {
    bucket: "reelkeep",
    region: "us-east-1",
    endpoint: urls.storage,
    credentials: { accessKeyId: secrets.s3AccessKeyId, secretAccessKey: secrets.s3SecretAccessKey },
  };
  const common = {
    DATABASE_URL: databaseUrl,
    S3_BUCKET: storage.bucket,
    S3_REGION: storage.region,
    S3_ENDPOINT: storage.endpoint,
    S3_ACCESS_KEY_ID: secrets.s3AccessKeyId,
    S3_SECRET_ACCESS_KEY: secrets.s3SecretAccessKey,
  };
  return {
    urls,
    storage,
    forStorage: {
      REELKEEP_S3_DIR: `${settings.REELKEEP_DATA_DIR}/objects`,
      REELKEEP_S3_HOST: "127.0.0.1",
      REELKEEP_S3_PORT: String(settings.REELKEEP_S3_PORT),
      REELKEEP_S3_CORS_ORIGINS: urls.app,
      // Whoever knows the token may say that an object was created.
      REELKEEP_S3_EVENT_TARGET: `http://127.0.0.1:${settings.REELKEEP_EVENTS_PORT}/events/${secrets.eventsToken}`,
      REELKEEP_S3_EVENT_PREFIX: "uploads/",
      S3_BUCKET: storage.bucket,
      S3_REGION: storage.region,
      S3_ACCESS_KEY_ID: secrets.s3AccessKeyId,
      S3_SECRET_ACCESS_KEY: secrets.s3SecretAccessKey,
    },
    forSite: {
      ...common,
      REELKEEP_PORT: String(settings.REELKEEP_PORT),
      NEXT_TELEMETRY_DISABLED: "1",
      APP_URL: urls.app,
      AUTH_SECRET: secrets.authSecret,
      OWNER_CODE: secrets.ownerCode,
      MEDIA_BASE_URL: urls.media,
      CLOUDFRONT_KEY_PAIR_ID: secrets.cloudFrontKeyPairId,
      CLOUDFRONT_PRIVATE_KEY: secrets.cloudFrontPrivateKeyPem,
      PROBE_SCRIPT: bundlePath("probe-process"),
      PROFILE: settings.PROFILE,
      PLAYBACK_SECONDS: String(settings.PLAYBACK_SECONDS),
      QUOTA_BYTES: String(settings.QUOTA_BYTES),
      MULTIPART_THRESHOLD_BYTES: String(settings.MULTIPART_THRESHOLD_BYTES),
      MULTIPART_PART_BYTES_MIN: String(settings.MULTIPART_PART_BYTES_MIN),
      MAX_UPLOAD_BYTES: String(settings.MAX_UPLOAD_BYTES),
      MAX_DURATION_SECONDS: String(settings.MAX_DURATION_SECONDS),
      WORKERS_MAX: String(settings.WORKERS_MAX),
      ...(settings.DAILY_BUDGET_USD === undefined
        ? {}
        : { DAILY_BUDGET_USD: String(settings.DAILY_BUDGET_USD) }),
    },
    forWorkers: {
      ...common,
      LEASE_SECONDS: String(settings.LEASE_SECONDS),
      RETRY_BACKOFF_SECONDS: String(settings.RETRY_BACKOFF_SECONDS),
    },
  };
}
