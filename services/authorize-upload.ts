import { type Actor, mayDo, mayDoWith } from "@reelkeep/core/access/policy";
import type { UploadAnswer, UploadRequest } from "@reelkeep/core/api/media";
import { AppError } from "@reelkeep/core/errors";
import { sourceKey } from "@reelkeep/core/object-keys";
import { checkUploadSize, extensionOf, planTransfer, uploadContentType } from "@reelkeep/core/upload/policy";
import { insertAsset, lockAsset } from "@reelkeep/db/assets";
import type { Transaction } from "@reelkeep/db/client";
import { findUpload, insertUpload, sumUploads, type Upload } from "@reelkeep/db/uploads";
import { lockUser } from "@reelkeep/db/users";
import type { ServiceContext } from "./context.ts";

type Needs = Pick<ServiceContext, "db" | "uploadLimits" | "quotaBytes" | "newId">;

/**
 * U1: allows one upload. The row exists before any URL does; repeating the request answers the same upload.
 *
 * @throws AppError `forbidden`, `not-found`, `asset-blocked`, `file-type-not-allowed`, `empty-file`,
 * `file-too-large`, `quota-exceeded`, `too-many-unfinished`, `invalid-request` (a single PUT without a checksum), or
 * `upload-mismatch` where the actionKey is somebody else's or was used for another file.
 */
export async function authorizeUpload(
  { db, uploadLimits, quotaBytes, newId }: Needs,
  actor: Actor,
  request: UploadRequest,
): Promise<UploadAnswer> {
  if (!mayDo(actor, "create-asset")) throw new AppError("forbidden");
  const contentType = uploadContentType(request.filename, request.contentType);
  checkUploadSize(request.sizeBytes, uploadLimits);
  const transfer = planTransfer(request.sizeBytes, uploadLimits);
  if (transfer.method === "put" && !request.checksumSha256)
    throw new AppError("invalid-request", { message: "A file sent in one piece needs its SHA-256." });

  const earlier = await findUpload(db, request.actionKey);
  if (earlier) return repeated(earlier, actor, request);

  return db.transaction(async (tx) => {
    // Uploads of one person are allowed one after another, so that two at once can't both fit the same quota.
    await lockUser(tx, actor.userId);
    const twin = await findUpload(tx, request.actionKey);
    if (twin) return repeated(twin, actor, request);
    const { bytes, open } = await sumUploads(tx, actor.userId);
    if (open >= uploadLimits.openUploadsMax)
      throw new AppError("too-many-unfinished", { details: { openUploadsMax: uploadLimits.openUploadsMax } });
    if (bytes + request.sizeBytes > quotaBytes)
      throw new AppError("quota-exceeded", { details: { quotaBytes } });
    const assetId = await chooseAsset(tx, actor, request, newId);
    const upload = await insertUpload(tx, {
      actionKey: request.actionKey,
      assetId,
      userId: actor.userId,
      key: sourceKey({
        userId: actor.userId,
        actionKey: request.actionKey,
        extension: extensionOf(request.filename),
      }),
      filename: request.filename,
      contentType,
      sizeBytes: request.sizeBytes,
      checksumSha256: transfer.method === "put" ? request.checksumSha256! : null,
      method: transfer.method,
      partSizeBytes: transfer.partSizeBytes,
    });
    // Somebody else took the key since the look; to throw takes the new asset back.
    if (!upload) throw new AppError("upload-mismatch");
    return toAnswer(upload);
  });
}

function repeated(upload: Upload, actor: Actor, request: UploadRequest): UploadAnswer {
  const same =
    upload.userId === actor.userId &&
    upload.filename === request.filename &&
    upload.sizeBytes === request.sizeBytes &&
    (upload.method !== "put" || upload.checksumSha256 === request.checksumSha256);
  if (!same) throw new AppError("upload-mismatch");
  return toAnswer(upload);
}

/** The asset that the file is for: an existing one that may be replaced, or a new one. */
async function chooseAsset(
  tx: Transaction,
  actor: Actor,
  { asset, filename }: UploadRequest,
  newId: () => string,
): Promise<string> {
  if ("new" in asset) {
    const created = await insertAsset(tx, {
      id: newId(),
      ownerId: actor.userId,
      title: asset.new.title || titleOf(filename),
      description: asset.new.description ?? "",
    });
    return created.id;
  }
  const existing = await lockAsset(tx, asset.id);
  const facts = existing && { ownerId: existing.ownerId, state: existing.state, invited: false };
  if (!existing || !facts || !mayDoWith(actor, "see-details", facts)) throw new AppError("not-found");
  if (existing.state === "blocked") throw new AppError("asset-blocked");
  if (!mayDoWith(actor, "replace", facts)) throw new AppError("forbidden");
  return existing.id;
}

/** A file's name without its ending, as a first title. */
const titleOf = (filename: string) =>
  filename
    .replace(/\.[^.]*$/, "")
    .replace(/[_\s]+/g, " ")
    .trim()
    .slice(0, 200) || "Untitled";

const toAnswer = (upload: Upload): UploadAnswer => ({
  actionKey: upload.actionKey,
  assetId: upload.assetId,
  status: upload.state,
  method: upload.method,
  key: upload.key,
  contentType: upload.contentType,
  partSizeBytes: upload.partSizeBytes,
});
