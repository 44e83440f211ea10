import { AppError } from "@reelkeep/core/errors";
import { checkUploadSize, type UploadLimits, uploadContentType } from "@reelkeep/core/upload/policy";
import type { UploadItem } from "./upload-store.ts";

/** The refusal that the server would give too, by the same functions, before a byte is sent; null: none. */
export function earlyRefusal(
  file: Pick<File, "name" | "type" | "size">,
  limits: UploadLimits,
): UploadItem["problem"] {
  try {
    uploadContentType(file.name, file.type);
    checkUploadSize(file.size, limits);
    return null;
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message, next: error.next };
    throw error;
  }
}
