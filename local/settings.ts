import path from "node:path";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { defaultUploadLimits } from "@reelkeep/core/upload/policy";
import { z } from "zod";
import { repositoryRoot } from "./repository.ts";

/** 0 takes any free port; tests do that. */
const whole = z.coerce.number({ error: "must be a whole number" }).int("must be a whole number");
const port = (fallback: number) => whole.min(0).max(65_535).default(fallback);
const count = (fallback: number) => whole.positive("must be more than 0").default(fallback);

/** What `npm start` reads from the environment. The README's table tells the same. */
const schema = z.object({
  /** Everything that is kept: database, objects, secrets, logs. Relative to the clone. */
  REELKEEP_DATA_DIR: z.string().min(1).default(".data"),
  /** The dashboard. */
  REELKEEP_PORT: port(3000),
  /** Where players fetch media. */
  REELKEEP_CDN_PORT: port(3001),
  /** Where browsers send files. */
  REELKEEP_S3_PORT: port(3002),
  REELKEEP_POSTGRES_PORT: port(3003),
  /** Where storage tells of new objects. */
  REELKEEP_EVENTS_PORT: port(3004),
  /** Videos processed at once. One: FFmpeg uses all cores. */
  WORKERS_MAX: count(1),
  LEASE_SECONDS: count(60),
  RETRY_BACKOFF_SECONDS: count(defaultJobPolicy.retryBackoffSeconds),
  LAUNCH_SECONDS: count(60),
  /** A worker that no video needs any more is ended after so long. */
  IDLE_WORKER_SECONDS: count(30),
  /** Processing stops for the day (UTC) once its workers cost so much. */
  DAILY_BUDGET_USD: z.coerce.number({ error: "must be a number" }).positive("must be more than 0").optional(),
  /** What an hour of one worker is taken to cost, for the budget. */
  WORKER_USD_PER_HOUR: z.coerce.number({ error: "must be a number" }).nonnegative().default(0),
  PROFILE: z.string().default("hls-ts-v1"),
  MULTIPART_THRESHOLD_BYTES: count(defaultUploadLimits.multipartThresholdBytes),
  MULTIPART_PART_BYTES_MIN: count(defaultUploadLimits.partBytesMin),
  MAX_UPLOAD_BYTES: count(defaultUploadLimits.sizeBytesMax),
  MAX_DURATION_SECONDS: count(defaultUploadLimits.durationSecondsMax),
  QUOTA_BYTES: count(1024 ** 4),
  PLAYBACK_SECONDS: count(3600),
  FFMPEG_PATH: z.string().min(1).optional(),
  FFPROBE_PATH: z.string().min(1).optional(),
});

export type LocalSettings = z.infer<typeof schema>;

/**
 * Parses the settings. An empty variable counts as unset.
 *
 * @throws Error that names each variable that can't be read.
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): LocalSettings {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = schema.safeParse(set);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `  ${path.join(".")}: ${message}`);
    throw new Error(`These environment variables can't be used:\n${problems.join("\n")}`);
  }
  const settings = parsed.data;
  return { ...settings, REELKEEP_DATA_DIR: path.resolve(repositoryRoot, settings.REELKEEP_DATA_DIR) };
}
