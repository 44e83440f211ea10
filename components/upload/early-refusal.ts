import { AppError } from "@reelkeep/core/errors";
import { checkUploadSize, type UploadLimits, uploadContentType } from "@reelkeep/core/upload/policy";
import type { UploadItem } from "./upload-store.ts";

/** Why the browser won't send a file, in the server's own words. */
export type Refusal = NonNullable<UploadItem["problem"]>;

/** The refusal that the server would give for what the file is called and measures, before a byte is sent. */
export function earlyRefusal(
  file: Pick<File, "name" | "type" | "size">,
  limits: UploadLimits,
): Refusal | null {
  try {
    uploadContentType(file.name, file.type);
    checkUploadSize(file.size, limits);
    return null;
  } catch (error) {
    if (error instanceof AppError) return refusalOf(error);
    throw error;
  }
}

/** What one of our checks has thrown; null for anything else, which says nothing of the file. */
export const refusalOf = (error: unknown): Refusal | null =>
  error instanceof AppError ? { code: error.code, message: error.message, next: error.next } : null;
