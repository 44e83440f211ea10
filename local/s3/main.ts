/** The local S3 as a process: told by its environment, ended by SIGTERM or with its parent. */
import { z } from "zod";
import { liveWithParent } from "../child-life.ts";
import { startS3 } from "./server.ts";

const environment = z
  .object({
    /** Where everything is kept. */
    REELKEEP_S3_DIR: z.string().min(1),
    REELKEEP_S3_HOST: z.string().min(1).default("127.0.0.1"),
    REELKEEP_S3_PORT: z.coerce.number().int().min(0).max(65_535),
    S3_ACCESS_KEY_ID: z.string().min(1),
    S3_SECRET_ACCESS_KEY: z.string().min(1),
    S3_REGION: z.string().min(1),
    /** Made at the start. */
    S3_BUCKET: z.string().min(1).optional(),
    /** Comma-separated. */
    REELKEEP_S3_CORS_ORIGINS: z.string().default(""),
    REELKEEP_S3_EVENT_TARGET: z.url().optional(),
    REELKEEP_S3_EVENT_PREFIX: z.string().optional(),
  })
  .parse(process.env);

const server = await startS3({
  dataDir: environment.REELKEEP_S3_DIR,
  host: environment.REELKEEP_S3_HOST,
  port: environment.REELKEEP_S3_PORT,
  accessKeyId: environment.S3_ACCESS_KEY_ID,
  secretAccessKey: environment.S3_SECRET_ACCESS_KEY,
  region: environment.S3_REGION,
  buckets: environment.S3_BUCKET ? [environment.S3_BUCKET] : [],
  corsOrigins: environment.REELKEEP_S3_CORS_ORIGINS.split(",").filter((origin) => origin !== ""),
  eventTarget: environment.REELKEEP_S3_EVENT_TARGET,
  eventPrefix: environment.REELKEEP_S3_EVENT_PREFIX,
});
console.log(`storage listens on ${server.url}`);
liveWithParent(() => server.close());
