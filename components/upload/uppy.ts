import { parseSourceKey } from "@reelkeep/core/object-keys";
import { partSizeFor, planTransfer, type UploadLimits } from "@reelkeep/core/upload/policy";
import AwsS3, { type AwsBody } from "@uppy/aws-s3";
import Uppy, { type Meta } from "@uppy/core";
import { signStorageRequest } from "../api-client.ts";

/** What we keep on a file for its way through Uppy. */
export interface UploadMeta extends Meta {
  actionKey: string;
  /** The object's key, once the server announced it. */
  key?: string;
}

export type UploadUppy = Uppy<UploadMeta, AwsBody>;

/** Files that are sent at the same time; the rest wait their turn. */
export const filesAtOnce = 3;

/** Headers that a page may not set; the browser sends its own, equal ones. */
const browserHeaders = new Set(["content-length", "host"]);

/**
 * The one Uppy instance: it cuts, sends, pauses and resumes. `announce` runs before a file's first byte.
 *
 * Uppy signs one request at a time and doesn't sign again after a 403, so whoever drives it retries the file;
 * its multipart state stays on the file, and it asks storage which parts are there.
 */
export function createUppy(limits: UploadLimits, announce: (fileId: string) => Promise<void>): UploadUppy {
  const uppy: UploadUppy = new Uppy({ autoProceed: false, allowMultipleUploadBatches: true });
  uppy.addPreProcessor(async (fileIds) => {
    for (const fileId of fileIds) await announce(fileId);
  });
  uppy.use(AwsS3<UploadMeta, AwsBody>, {
    limit: filesAtOnce,
    shouldUseMultipart: (file) => planTransfer(file.size ?? 0, limits).method === "multipart",
    getChunkSize: ({ size }) => partSizeFor(size, limits),
    generateObjectKey: (file) => {
      if (!file.meta.key) throw new Error("This file was not announced to the server.");
      return file.meta.key;
    },
    signRequest: async (request) => {
      const parts = parseSourceKey(request.key);
      if (!parts) throw new RangeError(`not an upload's key: ${request.key}`);
      const { url, headers } = await signStorageRequest(parts.actionKey, {
        method: request.method,
        key: request.key,
        ...("uploadId" in request ? { uploadId: request.uploadId } : {}),
        ...("partNumber" in request ? { partNumber: request.partNumber } : {}),
      });
      const allowed = Object.entries(headers).filter(([name]) => !browserHeaders.has(name.toLowerCase()));
      return { url, headers: Object.fromEntries(allowed) };
    },
  });
  return uppy;
}
