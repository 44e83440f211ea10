/** `/api/assets/…`: videos as people see them. Times are ISO 8601 in UTC. */
import { z } from "zod";
import { assetStates } from "../asset/machine.ts";
import { uuidSchema } from "../ids.ts";
import { paragraphsSchema, trimmedLineSchema } from "../text.ts";
import { cursorSchema } from "./limits.ts";
import { failureSchema, mediaStatuses } from "./media.ts";

/** How the asking person comes to see this asset. */
export const accessKinds = ["owner", "admin", "invited"] as const;

/** The newest upload of an asset and how far it is. Owners and admins alone see it. */
export const latestMediaSchema = z.object({
  actionKey: uuidSchema,
  status: z.enum(mediaStatuses),
  /** 0 to 1; 0 while uploading. */
  fraction: z.number(),
  failure: failureSchema.nullable(),
});

export const publishedVersionSchema = z.object({
  id: uuidSchema,
  versionNumber: z.number().int(),
  durationSeconds: z.number(),
  width: z.number().int(),
  height: z.number().int(),
  sizeBytes: z.number().int(),
  hasAudio: z.boolean(),
  publishedAt: z.string(),
});

export const assetSummarySchema = z
  .object({
    id: uuidSchema,
    title: z.string(),
    description: z.string(),
    state: z.enum(assetStates),
    owner: z.object({ id: z.string(), name: z.string() }),
    access: z.enum(accessKinds),
    createdAt: z.string(),
    /** The active version; null until something was published. */
    version: publishedVersionSchema.nullable(),
    /** Signed and short-lived; null until something was published. */
    posterUrl: z.string().nullable(),
    /** Pictures of which whoever may edit the video can choose its poster; signed and short-lived. */
    posters: z.array(z.object({ name: z.string(), url: z.string(), isShown: z.boolean() })),
    latest: latestMediaSchema.nullable(),
  })
  .meta({ id: "Asset" });
export type AssetSummary = z.infer<typeof assetSummarySchema>;

/** `GET /api/assets?filter=&q=&cursor=`, newest first. */
export const assetFilters = ["all", "processing", "needs-you"] as const;
export type AssetFilter = (typeof assetFilters)[number];
export const assetListQuerySchema = z.object({
  filter: z.enum(assetFilters).default("all"),
  q: trimmedLineSchema.max(200).default(""),
  /** As an earlier answer gave it. */
  cursor: cursorSchema.optional(),
});
export type AssetListQuery = z.infer<typeof assetListQuerySchema>;

export const assetListSchema = z
  .object({
    assets: z.array(assetSummarySchema),
    /** How many there are under each filter, whatever the filter asked for. */
    counts: z.record(z.enum(assetFilters), z.number().int()),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "AssetList" });
export type AssetList = z.infer<typeof assetListSchema>;

/** `PATCH /api/assets/{id}`. */
export const assetChangeSchema = z
  .object({
    title: trimmedLineSchema.min(1).max(200).optional(),
    description: paragraphsSchema.max(5000).optional(),
  })
  .meta({ id: "AssetChange" });
export type AssetChange = z.infer<typeof assetChangeSchema>;

/** `POST /api/assets/{id}/playback`; without a body, the active version is asked for. */
export const playbackRequestSchema = z
  .object({
    /** The version that plays already: it is renewed for a day after another has taken its place. */
    versionId: uuidSchema.optional(),
  })
  .meta({ id: "PlaybackRequest" });
export type PlaybackRequest = z.infer<typeof playbackRequestSchema>;

/** `PUT /api/assets/{id}/poster`: which of a version's suggestions stands for it. */
export const posterChoiceSchema = z
  .object({ versionId: uuidSchema, name: z.string().max(64) })
  .meta({ id: "PosterChoice" });
export type PosterChoice = z.infer<typeof posterChoiceSchema>;

/** The answer to it: it also sets the signed cookies that open exactly this version. */
export const playbackGrantSchema = z
  .object({
    assetId: uuidSchema,
    versionId: uuidSchema,
    versionNumber: z.number().int(),
    title: z.string(),
    manifestUrl: z.string(),
    posterUrl: z.string().nullable(),
    /** WebVTT whose cues name pieces of pictures along the time line. */
    storyboardUrl: z.string().nullable(),
    durationSeconds: z.number(),
    expiresAt: z.string(),
    /** Ask again after this many seconds, well before the cookies end. */
    renewAfterSeconds: z.number(),
  })
  .meta({ id: "PlaybackGrant" });
export type PlaybackGrant = z.infer<typeof playbackGrantSchema>;
