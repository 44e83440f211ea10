import type { Actor } from "@reelkeep/core/access/policy";
import type { CompleteAnswer } from "@reelkeep/core/api/media";
import { AppError, errorInfo, isErrorCode, toAppError } from "@reelkeep/core/errors";
import { parseSourceKey } from "@reelkeep/core/object-keys";
import type { ContainerFacts } from "@reelkeep/core/upload/container-facts";
import { lockAsset, raiseSourceRevision } from "@reelkeep/db/assets";
import { enterDeletion } from "@reelkeep/db/deletion-ledger";
import { supersedeJobs } from "@reelkeep/db/job-moves";
import { findJob, insertJob } from "@reelkeep/db/jobs";
import { writeOutbox } from "@reelkeep/db/outbox";
import { admit, findUpload, reject, type Upload } from "@reelkeep/db/uploads";
import { checkObject, isLookFailure } from "./check-object.ts";
import type { ServiceContext } from "./context.ts";
import { describeFailure } from "./describe-failure.ts";
import { settleSuperseded } from "./fail-attempt.ts";

type Needs = Pick<ServiceContext, "db" | "store" | "uploadLimits" | "profile" | "probeScript">;

/**
 * U5, from the browser: the client says that the file has arrived.
 *
 * @throws AppError `not-found` for somebody else's upload, `upload-incomplete` where storage has no such object
 * yet, `upload-expired`, or what kept the look from being made.
 */
export async function completeUpload(needs: Needs, actor: Actor, actionKey: string): Promise<CompleteAnswer> {
  const upload = await findUpload(needs.db, actionKey);
  if (!upload || (upload.userId !== actor.userId && actor.role !== "admin")) throw new AppError("not-found");
  if (!(await admitUpload(needs, upload))) throw new AppError("upload-incomplete");
  return answer(needs, actionKey);
}

/**
 * U5, from storage: an object was created. Never throws for what the event says; an event that can't be used is
 * answered with the reason, and what lies where nothing may lie is entered for deletion.
 */
export async function admitStoredObject(
  needs: Needs,
  key: string,
): Promise<"admitted" | "ignored" | "deleted-later" | "gone"> {
  const parts = parseSourceKey(key);
  if (!parts) return "ignored";
  const upload = await findUpload(needs.db, parts.actionKey);
  if (upload?.key === key && (upload.state === "url-created" || upload.state === "file-uploaded"))
    return (await admitUpload(needs, upload)) ? "admitted" : "gone";
  await enterDeletion(needs.db, {
    kind: "object",
    target: key,
    reason: upload ? `late-event-${upload.state}` : "no-such-upload",
    delaySeconds: 0,
  });
  return "deleted-later";
}

/**
 * The one admission: whichever of the two calls comes first wins, the other finds it done. False where storage has
 * no object of this key.
 */
export async function admitUpload(needs: Needs, upload: Upload): Promise<boolean> {
  if (upload.state === "expired")
    throw new AppError(isErrorCode(upload.errorCode) ? upload.errorCode : "upload-expired");
  if (upload.state !== "url-created") return true;
  const object = await needs.store.head(upload.key);
  if (!object) return false;
  let facts: ContainerFacts;
  try {
    facts = await checkObject(needs, upload, object, needs.uploadLimits);
  } catch (error) {
    const reason = toAppError(error);
    if (isLookFailure(reason)) throw reason;
    await rejectUpload(needs, upload, reason, object.etag);
    return true;
  }
  await writeAdmission(needs, upload, object.etag, facts);
  return true;
}

/** One transaction: revision, upload, job, intent; older unfinished jobs make way. Lock order: asset, job, attempt. */
export async function writeAdmission(
  { db, profile }: Pick<Needs, "db" | "profile">,
  upload: Upload,
  etag: string,
  { durationSeconds }: ContainerFacts,
): Promise<void> {
  await db.transaction(async (tx) => {
    const asset = await lockAsset(tx, upload.assetId);
    if (asset?.state !== "active") {
      const code = asset?.state === "blocked" ? "asset-blocked" : "asset-deleted";
      return writeRejection(tx, upload, { code, message: errorInfo(code).message }, etag);
    }
    const sourceRevision = asset.sourceRevision + 1;
    if (!(await admit(tx, upload.actionKey, { etag, sourceRevision }))) return;
    await raiseSourceRevision(tx, asset.id);
    const older = { assetId: asset.id, olderThanRevision: sourceRevision };
    await settleSuperseded(tx, await supersedeJobs(tx, older, "superseded"));
    const job = await insertJob(tx, {
      actionKey: upload.actionKey,
      assetId: asset.id,
      sourceRevision,
      profile,
      sourceKey: upload.key,
      sourceEtag: etag,
      sourceSizeBytes: upload.sizeBytes,
      sourceDurationSeconds: durationSeconds,
    });
    if (!job) throw new AppError("conflict");
    await writeOutbox(tx, { kind: "launch-worker", actionKey: job.actionKey, generation: job.generation });
  });
}

/** U6: the file is refused: a code, a sentence, no job; its object is deleted through the ledger. */
async function rejectUpload(
  { db }: Needs,
  upload: Upload,
  reason: AppError,
  etag: string | null,
): Promise<void> {
  await db.transaction((tx) => writeRejection(tx, upload, reason, etag));
}

async function writeRejection(
  tx: Parameters<typeof reject>[0],
  upload: Upload,
  reason: { code: string; message: string },
  etag: string | null,
): Promise<void> {
  const error = { errorCode: reason.code, errorMessage: reason.message, etag };
  if (!(await reject(tx, upload.actionKey, error))) return;
  await enterDeletion(tx, { kind: "object", target: upload.key, reason: "upload-rejected", delaySeconds: 0 });
}

/** What admission said, from the rows alone, so that every call answers the same. */
async function answer({ db }: Needs, actionKey: string): Promise<CompleteAnswer> {
  const upload = await findUpload(db, actionKey);
  if (!upload) throw new AppError("not-found");
  const job = upload.state === "file-uploaded" ? await findJob(db, actionKey) : null;
  return { actionKey, status: job?.state ?? upload.state, failure: describeFailure(upload, job) };
}
