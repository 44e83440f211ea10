import type { Actor } from "@reelkeep/core/access/policy";
import type { SignAnswer, SignRequest } from "@reelkeep/core/api/media";
import { AppError } from "@reelkeep/core/errors";
import { partLength } from "@reelkeep/core/upload/policy";
import { findAsset } from "@reelkeep/db/assets";
import { bindMultipartUpload, findUpload, touchUpload, type Upload } from "@reelkeep/db/uploads";
import type { ServiceContext } from "./context.ts";

/** A part may take long on a slow line; a URL that runs out is simply asked for again. */
const urlSeconds = 3600;

/**
 * U2: signs one request to storage, just in time, after comparing it with the upload's row. Creating the multipart
 * upload isn't signed: the answer is our own address, where the server creates it and so knows its id from the
 * start (see {@link createMultipartUpload}).
 *
 * @throws AppError `upload-mismatch` (403) for another user, key, uploadId, method or part; `upload-closed`
 * where the upload has ended, `asset-blocked`.
 */
export async function signUploadRequest(
  { db, presigner }: Pick<ServiceContext, "db" | "presigner">,
  actor: Actor,
  actionKey: string,
  request: SignRequest,
): Promise<SignAnswer> {
  const upload = await openUpload({ db }, actor, actionKey);
  if (request.key !== upload.key) throw new AppError("upload-mismatch");
  const { key, contentType, sizeBytes } = upload;
  const common = { key, expiresInSeconds: urlSeconds };

  if (upload.method === "put") {
    if (request.method !== "PUT" || request.uploadId !== undefined || request.partNumber !== undefined)
      throw new AppError("upload-mismatch");
    return presigner.putObject({
      ...common,
      contentType,
      sizeBytes,
      checksumSha256Base64: upload.checksumSha256 ?? undefined,
    });
  }

  if (request.uploadId === undefined) {
    if (request.method !== "POST" || request.partNumber !== undefined) throw new AppError("upload-mismatch");
    return { url: `/api/media/${actionKey}/multipart`, headers: {} };
  }
  if (request.uploadId !== upload.multipartUploadId) throw new AppError("upload-mismatch");
  const parts = { ...common, uploadId: request.uploadId };
  switch (request.method) {
    case "PUT": {
      const partBytes = partLength(sizeBytes, upload.partSizeBytes!, request.partNumber ?? 0);
      if (partBytes === null) throw new AppError("upload-mismatch");
      return presigner.uploadPart({ ...parts, partNumber: request.partNumber!, sizeBytes: partBytes });
    }
    case "GET":
      return presigner.listParts(parts);
    case "POST":
      return presigner.completeMultipartUpload(parts);
    case "DELETE":
      return presigner.abortMultipartUpload(parts);
  }
}

/**
 * Creates the multipart upload of an upload, once: a repeated request answers the same id, and of two at once the
 * one that comes second takes back what it created.
 */
export async function createMultipartUpload(
  { db, store }: Pick<ServiceContext, "db" | "store">,
  actor: Actor,
  actionKey: string,
): Promise<{ key: string; uploadId: string }> {
  const upload = await openUpload({ db }, actor, actionKey);
  if (upload.method !== "multipart") throw new AppError("upload-mismatch");
  const { key, contentType } = upload;
  if (upload.multipartUploadId) return { key, uploadId: upload.multipartUploadId };
  const created = await store.createMultipartUpload(key, { contentType });
  if (await bindMultipartUpload(db, actionKey, created)) return { key, uploadId: created };
  await store.abortMultipartUpload(key, created);
  const bound = (await openUpload({ db }, actor, actionKey)).multipartUploadId;
  if (!bound) throw new AppError("conflict");
  return { key, uploadId: bound };
}

/** The upload, if it is this person's and still open; every sign request is a sign of life. */
async function openUpload(
  { db }: Pick<ServiceContext, "db">,
  actor: Actor,
  actionKey: string,
): Promise<Upload> {
  const upload = await findUpload(db, actionKey);
  if (upload?.userId !== actor.userId) throw new AppError("upload-mismatch");
  const touched = await touchUpload(db, actionKey);
  if (!touched) throw new AppError("upload-closed");
  if ((await findAsset(db, touched.assetId))?.state === "blocked") throw new AppError("asset-blocked");
  return touched;
}
