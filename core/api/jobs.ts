/** `/api/admin/jobs` and what can be done with a job. Times are ISO 8601 in UTC. */
import { z } from "zod";
import { assetStates } from "../asset/machine.ts";
import { uuidSchema } from "../ids.ts";
import { cursorSchema } from "./limits.ts";
import { mediaStatusSchema } from "./media.ts";

/** `POST /api/media/{actionKey}/retry`: of exactly the generation that was looked at, so that two clicks are one. */
export const retryRequestSchema = z
  .object({ generation: z.number().int().positive().max(2_147_483_647) })
  .meta({ id: "RetryRequest" });
export type RetryRequest = z.infer<typeof retryRequestSchema>;

/** `PUT /api/assets/{id}/state`: an admin blocks a video or allows it again. */
export const assetStateChangeSchema = z
  .object({ state: z.enum(["active", "blocked"]) })
  .meta({ id: "AssetStateChange" });
export type AssetStateChange = z.infer<typeof assetStateChangeSchema>;

/** `active`: waiting or worked on, in order of admission. The others: the latest end first. */
export const jobFilters = ["active", "failed", "ended"] as const;
export type JobFilter = (typeof jobFilters)[number];
export const jobListQuerySchema = z.object({
  filter: z.enum(jobFilters).default("active"),
  /** As an earlier answer gave it. */
  cursor: cursorSchema.optional(),
});
export type JobListQuery = z.infer<typeof jobListQuerySchema>;

/** A job as admins see it: its status as its owner sees it, and who works on it. */
export const jobRowSchema = z
  .object({
    media: mediaStatusSchema,
    asset: z.object({ id: uuidSchema, title: z.string(), state: z.enum(assetStates) }),
    owner: z.object({ id: z.string(), name: z.string() }),
    admittedAt: z.string(),
    endedAt: z.string().nullable(),
    /** The running attempt; null where nobody works on it. */
    worker: z
      .object({
        attemptId: uuidSchema,
        workerId: uuidSchema,
        machineId: z.string().nullable(),
        startedAt: z.string(),
        lastHeartbeatAt: z.string(),
        leaseExpiresAt: z.string(),
      })
      .nullable(),
  })
  .meta({ id: "Job" });
export type JobRow = z.infer<typeof jobRowSchema>;

/** One page of `GET /api/admin/jobs?filter=&cursor=`, and how the whole is. */
export const jobListSchema = z
  .object({
    jobs: z.array(jobRowSchema),
    nextCursor: z.string().nullable(),
    /** `alive`: launched and not confirmed gone. `waiting`: jobs without a worker. */
    workers: z.object({ alive: z.number().int(), max: z.number().int(), waiting: z.number().int() }),
    /** Since midnight UTC, at list price; null: no budget is set. */
    spending: z.object({ todayUsd: z.number(), budgetUsd: z.number().nullable() }),
    /** Workers of the last seven days that were started for a job that doesn't exist, the newest first. */
    provisioningErrors: z.array(
      z.object({ actionKey: uuidSchema, machineId: z.string().nullable(), code: z.string(), at: z.string() }),
    ),
  })
  .meta({ id: "JobList" });
export type JobList = z.infer<typeof jobListSchema>;
