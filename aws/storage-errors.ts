import { S3ServiceException } from "@aws-sdk/client-s3";
import { AppError } from "@reelkeep/core/errors";

/** The HTTP status of storage's refusal; undefined where none came. */
export const statusOf = (error: unknown) =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;

/** A header of storage's refusal. `name` in lower case. */
export const headerOf = (error: unknown, name: string): string | undefined =>
  error instanceof S3ServiceException ? error.$response?.headers[name] : undefined;

/** Whether storage says that there is no such object. A missing bucket is a wrong setting, and no object's fault. */
export const isMissing = (error: unknown): boolean =>
  statusOf(error) === 404 && (error as Error).name !== "NoSuchBucket";

/** What the disk here says when nothing more fits: a download's file, not the storage. */
const diskFullCodes: readonly unknown[] = ["ENOSPC", "EDQUOT"];

/** A failure of storage as ours: changed, gone, or not answering (worth another try); or of the disk here. */
export function toStorageError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (diskFullCodes.includes((error as NodeJS.ErrnoException | null)?.code))
    return new AppError("disk-full", { cause: error });
  if (statusOf(error) === 412) return new AppError("source-changed", { cause: error });
  if (isMissing(error)) return new AppError("source-gone", { cause: error });
  return new AppError("storage-unavailable", { cause: error });
}
