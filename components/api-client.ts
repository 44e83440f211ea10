/** The browser's one way to our API: every answer is parsed by its contract, every failure is told in words. */
import {
  type AcceptInvitation,
  acceptedInvitationSchema,
  type InvitationRequest,
  invitationListSchema,
  newInvitationSchema,
  peopleSchema,
  type SignIn,
  signedInSchema,
  type Welcome,
} from "@reelkeep/core/api/accounts";
import {
  type AssetChange,
  type AssetListQuery,
  assetListSchema,
  assetSummarySchema,
  type PlaybackRequest,
  type PosterChoice,
  playbackGrantSchema,
} from "@reelkeep/core/api/assets";
import {
  type AssetStateChange,
  type JobListQuery,
  jobListSchema,
  type RetryRequest,
} from "@reelkeep/core/api/jobs";
import {
  completeAnswerSchema,
  mediaStatusSchema,
  previewGrantSchema,
  type SignRequest,
  signAnswerSchema,
  type UploadRequest,
  uploadAnswerSchema,
} from "@reelkeep/core/api/media";
import { problemSchema } from "@reelkeep/core/api/problem";
import { type ErrorCode, errorInfo } from "@reelkeep/core/errors";

/** `unreachable`: no answer came at all; every other code is the server's own. */
export type ProblemCode = ErrorCode | "unreachable";

/** A failure that may be shown as it is: `message` says what happened, `next` what to do. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly code: ProblemCode;
  readonly next: string;
  readonly retryable: boolean;

  constructor(
    problem: { code: ProblemCode; message: string; next: string; retryable: boolean },
    cause?: unknown,
  ) {
    super(problem.message, { cause });
    this.code = problem.code;
    this.next = problem.next;
    this.retryable = problem.retryable;
  }
}

/** A failure that the table of codes knows. */
export const problemOf = (code: ErrorCode, cause?: unknown): ProblemError =>
  new ProblemError({ code, ...errorInfo(code) }, cause);

/** Whatever was thrown, as a problem that may be shown; a stranger reads as the server's own fault. */
export function toProblemError(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  return problemOf("internal", error);
}

const unreachable = (cause: unknown) =>
  new ProblemError(
    {
      code: "unreachable",
      message: "The server can't be reached.",
      next: "Check your connection and try again.",
      retryable: true,
    },
    cause,
  );

interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** @throws ProblemError; an AbortError passes as it is. */
async function send(path: string, { method = "GET", body, signal }: Call): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      // With an ETag the browser asks again and reuses what it holds on 304.
      cache: "no-cache",
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable(error);
  }
  if (response.ok) return response;
  const problem = problemSchema.safeParse(await response.json().catch(() => null));
  if (problem.success) throw new ProblemError(problem.data.error);
  // A gateway before us answered, not our own route.
  throw problemOf(response.status === 429 ? "rate-limited" : "internal");
}

/** The part of a zod schema that this file needs. */
interface Contract<Answer> {
  safeParse(value: unknown): { success: true; data: Answer } | { success: false; error: unknown };
}

/** @throws ProblemError; an answer that breaks its contract counts as the server's fault. */
async function ask<Answer>(path: string, contract: Contract<Answer>, call: Call = {}): Promise<Answer> {
  const response = await send(path, call);
  const answer = contract.safeParse(await response.json().catch(() => null));
  if (answer.success) return answer.data;
  throw problemOf("internal", answer.error);
}

const tell = async (path: string, call: Call): Promise<void> => void (await send(path, call));

export const signIn = (body: SignIn) => ask("/api/session", signedInSchema, { method: "POST", body });
export const signOut = () => tell("/api/session", { method: "DELETE" });
export const createOwner = (body: Welcome) => ask("/api/welcome", signedInSchema, { method: "POST", body });

export function listAssets(query: AssetListQuery, signal?: AbortSignal) {
  const search = new URLSearchParams({ filter: query.filter });
  if (query.q) search.set("q", query.q);
  if (query.cursor) search.set("cursor", query.cursor);
  return ask(`/api/assets?${search}`, assetListSchema, { signal });
}
export const getAsset = (id: string, signal?: AbortSignal) =>
  ask(`/api/assets/${id}`, assetSummarySchema, { signal });
export const changeAsset = (id: string, body: AssetChange) =>
  ask(`/api/assets/${id}`, assetSummarySchema, { method: "PATCH", body });
export const setAssetState = (id: string, body: AssetStateChange) =>
  tell(`/api/assets/${id}/state`, { method: "PUT", body });
export const choosePoster = (id: string, body: PosterChoice) =>
  tell(`/api/assets/${id}/poster`, { method: "PUT", body });
export const deleteAsset = (id: string) => tell(`/api/assets/${id}`, { method: "DELETE" });

/** Sets the cookies that open the film, as a side effect. */
export const grantPlayback = (assetId: string, body: PlaybackRequest, signal?: AbortSignal) =>
  ask(`/api/assets/${assetId}/playback`, playbackGrantSchema, { method: "POST", body, signal });

/** Sets the cookies that open what the running attempt makes, as a side effect. */
export const grantPreview = (actionKey: string, signal?: AbortSignal) =>
  ask(`/api/media/${actionKey}/preview`, previewGrantSchema, { method: "POST", signal });

export const listInvitations = (assetId: string, signal?: AbortSignal) =>
  ask(`/api/assets/${assetId}/invitations`, invitationListSchema, { signal });
export const inviteViewer = (assetId: string, body: InvitationRequest) =>
  ask(`/api/assets/${assetId}/invitations`, newInvitationSchema, { method: "POST", body });
export const inviteCreator = (body: InvitationRequest) =>
  ask("/api/people/invitations", newInvitationSchema, { method: "POST", body });
export const revokeInvitation = (id: string) => tell(`/api/invitations/${id}`, { method: "DELETE" });
export const acceptInvitation = (body: AcceptInvitation) =>
  ask("/api/invitations/accept", acceptedInvitationSchema, { method: "POST", body });
export const listPeople = (signal?: AbortSignal) => ask("/api/people", peopleSchema, { signal });

export const requestUpload = (body: UploadRequest) =>
  ask("/api/media/upload", uploadAnswerSchema, { method: "POST", body });
export const signStorageRequest = (actionKey: string, body: SignRequest) =>
  ask(`/api/media/${actionKey}/sign`, signAnswerSchema, { method: "POST", body });
export const confirmUpload = (actionKey: string) =>
  ask(`/api/media/${actionKey}/complete`, completeAnswerSchema, { method: "POST" });
export const giveUpUpload = (actionKey: string) => tell(`/api/media/${actionKey}`, { method: "DELETE" });
export const getMediaStatus = (actionKey: string, signal?: AbortSignal) =>
  ask(`/api/media/${actionKey}`, mediaStatusSchema, { signal });
export const cancelJob = (actionKey: string) => tell(`/api/media/${actionKey}/cancel`, { method: "POST" });
export const retryJob = (actionKey: string, body: RetryRequest) =>
  tell(`/api/media/${actionKey}/retry`, { method: "POST", body });
export function listJobs(query: JobListQuery, signal?: AbortSignal) {
  const search = new URLSearchParams({ filter: query.filter });
  if (query.cursor) search.set("cursor", query.cursor);
  return ask(`/api/admin/jobs?${search}`, jobListSchema, { signal });
}
