import { titleFromFilename } from "@reelkeep/core/words/format";
import type { MultipartState, RememberedUpload } from "./remembered-uploads.ts";
import type { UploadItem } from "./upload-store.ts";

/** What a new upload may take over from one that ended. */
export type UploadOrigin = Partial<Pick<UploadItem, "assetId" | "title" | "description">>;

/** A file that was just chosen. */
export const newItem = (file: File, origin: UploadOrigin): UploadItem => ({
  actionKey: crypto.randomUUID(),
  phase: "preparing",
  filename: file.name,
  sizeBytes: file.size,
  lastModified: file.lastModified,
  sentBytes: 0,
  bytesPerSecond: null,
  problem: null,
  assetId: origin.assetId ?? null,
  title: origin.title ?? titleFromFilename(file.name),
  description: origin.description ?? "",
  detailsSaved: false,
});

/** An upload that goes on after the page was gone. */
export const resumedItem = ({ multipart: _, ...upload }: RememberedUpload): UploadItem => ({
  ...upload,
  phase: "preparing",
  bytesPerSecond: null,
  problem: null,
  detailsSaved: false,
});

/** What is kept of an upload for after the page. */
export function rememberedOf(item: UploadItem, multipart: MultipartState | null): RememberedUpload {
  const { actionKey, filename, sizeBytes, lastModified, assetId, title, description, sentBytes } = item;
  return { actionKey, filename, sizeBytes, lastModified, assetId, title, description, sentBytes, multipart };
}
