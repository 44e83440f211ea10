/** `/api/media/…`: one upload, its job, and what became of them. */
import { z } from "zod";
import { uuidSchema } from "../ids.ts";
import { jobStates, waitingReasons } from "../job/machine.ts";
import { lineSchema, paragraphsSchema, trimmedLineSchema } from "../text.ts";
import { uploadMethods, uploadStates } from "../upload/machine.ts";

/** `POST /api/media/upload`. Repeating it with the same actionKey answers the same upload. */
export const uploadRequestSchema = z
  .object({
    /** Made by the client, once per file chosen. */
    actionKey: uuidSchema,
    asset: z.union([
      z.object({ id: uuidSchema }),
      z.object({
        new: z.object({
          title: trimmedLineSchema.max(200).optional(),
          description: paragraphsSchema.max(5000).optional(),
        }),
      }),
    ]),
    filename: lineSchema.min(1).max(255),
    sizeBytes: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER),
    contentType: lineSchema.max(100),
    /** Base64 of the whole file's SHA-256; required for a single PUT. */
    checksumSha256: z
      .string()
      .regex(/^[A-Za-z0-9+/]{43}=$/, "must be a SHA-256 in base64")
      .optional(),
  })
  .meta({ id: "UploadRequest" });
export type UploadRequest = z.infer<typeof uploadRequestSchema>;

export const uploadAnswerSchema = z
  .object({
    actionKey: uuidSchema,
    assetId: uuidSchema,
    status: z.enum(uploadStates),
    method: z.enum(uploadMethods),
    /** The object's key; every request to sign must name it. */
    key: z.string(),
    contentType: z.string(),
    /** Null for a single PUT. */
    partSizeBytes: z.number().int().positive().nullable(),
  })
  .meta({ id: "UploadAnswer" });
export type UploadAnswer = z.infer<typeof uploadAnswerSchema>;

/** `POST /api/media/{actionKey}/sign`: one request to storage, as the browser's upload client is about to send it. */
export const signRequestSchema = z
  .object({
    method: z.enum(["PUT", "POST", "GET", "DELETE"]),
    key: z.string().max(1024),
    uploadId: z.string().max(1024).optional(),
    partNumber: z.number().int().optional(),
  })
  .meta({ id: "SignRequest" });
export type SignRequest = z.infer<typeof signRequestSchema>;

export const signAnswerSchema = z
  .object({
    url: z.string(),
    /** Headers that the URL was signed with and the client must send. */
    headers: z.record(z.string(), z.string()),
  })
  .meta({ id: "SignAnswer" });
export type SignAnswer = z.infer<typeof signAnswerSchema>;

/** The upload's state until there is a job, then the job's. */
export const mediaStatuses = [...uploadStates, ...jobStates] as const;
export type MediaStatusName = (typeof mediaStatuses)[number];

export const renditionProgressSchema = z.object({
  name: z.string(),
  width: z.number().int(),
  height: z.number().int(),
  /** 0 to 1. */
  fraction: z.number().min(0).max(1),
  complete: z.boolean(),
});
export type RenditionProgress = z.infer<typeof renditionProgressSchema>;

export const failureSchema = z.object({ code: z.string(), message: z.string(), next: z.string() });
export type Failure = z.infer<typeof failureSchema>;

/** `GET /api/media/{actionKey}`, for the owner and admins. Times are ISO 8601 in UTC. */
export const mediaStatusSchema = z
  .object({
    actionKey: uuidSchema,
    assetId: uuidSchema,
    status: z.enum(mediaStatuses),
    filename: z.string(),
    sizeBytes: z.number().int(),
    sourceRevision: z.number().int().nullable(),
    /** Why a waiting job waits. */
    waitingReason: z.enum(waitingReasons).nullable(),
    /** 1 is next; null when it isn't waiting. */
    placeInLine: z.number().int().positive().nullable(),
    /** When a job that backs off is tried again. */
    retryAt: z.string().nullable(),
    /** The attempt that runs or ran last; 0 before the first. */
    attempt: z.object({ number: z.number().int(), limit: z.number().int() }).nullable(),
    stage: z.string().nullable(),
    progress: z.object({
      fraction: z.number().min(0).max(1),
      secondsLeft: z.number().nullable(),
      renditions: z.array(renditionProgressSchema),
    }),
    /** Rendition's name to its playlist's key (relative to the bucket), once complete. */
    processByResolution: z.record(z.string(), z.string()),
    failure: failureSchema.nullable(),
    /** The generation that a retry must name; null before there is a job. */
    generation: z.number().int().positive().nullable(),
    /** Cancelling was asked for, and the worker hasn't stopped yet. */
    cancelRequested: z.boolean(),
    /** Who cancelled it (or asked to); a person's name where it was somebody else. */
    cancelledBy: z
      .object({
        kind: z.enum(["you", "person", "newer-file", "block", "deletion"]),
        name: z.string().nullable(),
      })
      .nullable(),
    /** Where to ask for the part that is ready, while the rest is being made. */
    preview: z.object({ endpoint: z.string() }).nullable(),
    /** Where to ask for playback, once this job's version is published. */
    playback: z.object({ endpoint: z.string(), versionNumber: z.number().int() }).nullable(),
    updatedAt: z.string(),
  })
  .meta({ id: "MediaStatus" });
export type MediaStatus = z.infer<typeof mediaStatusSchema>;

/** `POST /api/media/{actionKey}/preview`: it also sets the signed cookies that open what this attempt makes. */
export const previewGrantSchema = z
  .object({
    attemptNumber: z.number().int().positive(),
    /** Its media playlists grow while the attempt goes on. */
    manifestUrl: z.string(),
    expiresAt: z.string(),
    /** Ask again after this many seconds, well before the cookies end. */
    renewAfterSeconds: z.number(),
  })
  .meta({ id: "PreviewGrant" });
export type PreviewGrant = z.infer<typeof previewGrantSchema>;

/** `POST /api/media/{actionKey}/complete`: what admission says; the same answer however often it is asked. */
export const completeAnswerSchema = z
  .object({ actionKey: uuidSchema, status: z.enum(mediaStatuses), failure: failureSchema.nullable() })
  .meta({ id: "CompleteAnswer" });
export type CompleteAnswer = z.infer<typeof completeAnswerSchema>;
