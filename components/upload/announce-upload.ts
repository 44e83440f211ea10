import type { UploadAnswer } from "@reelkeep/core/api/media";
import { planTransfer, type UploadLimits, uploadContentType } from "@reelkeep/core/upload/policy";
import { problemOf, requestUpload } from "../api-client.ts";
import { sha256Base64 } from "./sha256.ts";
import type { UploadItem } from "./upload-store.ts";

let hashing: Promise<unknown> = Promise.resolve();

/** One file after the other: each is read into memory as a whole. */
function sha256InTurn(file: File): Promise<string> {
  const hash = hashing.then(() => sha256Base64(file));
  hashing = hash.catch(() => {});
  return hash;
}

/**
 * Tells the server which file comes, before its first byte; a repeat is answered with the same upload.
 * @throws ProblemError where the server refuses, or `conflict` where its limits changed since the page was loaded.
 */
export async function announceUpload(
  file: File,
  limits: UploadLimits,
  itemNow: () => UploadItem,
): Promise<UploadAnswer> {
  const plan = planTransfer(file.size, limits);
  const checksumSha256 = plan.method === "put" ? await sha256InTurn(file) : undefined;
  // Asked only now: hashing takes a while, and people type meanwhile.
  const { actionKey, assetId, title, description } = itemNow();
  const answer = await requestUpload({
    actionKey,
    asset: assetId ? { id: assetId } : { new: { title: title.trim(), description: description.trim() } },
    filename: file.name,
    sizeBytes: file.size,
    contentType: uploadContentType(file.name, file.type),
    ...(checksumSha256 && { checksumSha256 }),
  });
  if (answer.method !== plan.method || answer.partSizeBytes !== plan.partSizeBytes)
    throw problemOf("conflict");
  return answer;
}
