import type { StoredObject } from "@reelkeep/aws/object-store";
import { AppError } from "@reelkeep/core/errors";
import { checkVideoFacts, requireVideo } from "@reelkeep/core/upload/admission";
import type { ContainerFacts } from "@reelkeep/core/upload/container-facts";
import type { UploadLimits } from "@reelkeep/core/upload/policy";
import { readSignature, signatureBytes } from "@reelkeep/core/upload/signature";
import type { Upload } from "@reelkeep/db/uploads";
import { type ProbeNeeds, probeObject } from "./probe-object.ts";

/**
 * U5: compares what lies in storage with what was announced, then looks into the file itself. Every read is of
 * exactly the object that was looked at first (If-Match). Answers what the container told.
 *
 * @throws AppError with the code of the rejection; `source-changed` or `storage-unavailable` where the look itself
 * failed, which rejects nothing.
 */
export async function checkObject(
  needs: ProbeNeeds,
  upload: Pick<Upload, "key" | "sizeBytes" | "contentType" | "checksumSha256">,
  object: StoredObject,
  limits: UploadLimits,
): Promise<ContainerFacts> {
  if (object.sizeBytes === 0) throw new AppError("empty-file");
  if (object.sizeBytes !== upload.sizeBytes)
    throw new AppError("size-mismatch", {
      details: { announced: upload.sizeBytes, stored: object.sizeBytes },
    });
  if (object.contentType !== upload.contentType) throw new AppError("checksum-mismatch");
  // Storage has compared the checksum with the bytes already; here only that it is the one that was announced.
  if (upload.checksumSha256 && object.checksumSha256 && object.checksumSha256 !== upload.checksumSha256)
    throw new AppError("checksum-mismatch");
  const head = await needs.store.readRange(
    upload.key,
    0,
    Math.min(signatureBytes, object.sizeBytes),
    object.etag,
  );
  const container = requireVideo(readSignature(head));
  const { key } = upload;
  const { etag, sizeBytes } = object;
  const facts = await probeObject(needs, { key, etag, sizeBytes, container });
  checkVideoFacts(facts, limits);
  return facts;
}

/** Codes that say nothing of the file: the look is repeated, the upload stays open. */
export const isLookFailure = (error: AppError): boolean =>
  error.code === "source-changed" || error.code === "source-gone" || error.retryable;
