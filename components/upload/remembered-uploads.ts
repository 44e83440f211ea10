import type { UploadItem } from "./upload-store.ts";

/** Where a multipart upload stands in storage: enough to ask which parts are there and go on. */
export interface MultipartState {
  readonly uploadId: string;
  readonly key: string;
}

/** What outlives the page: everything but the file, which the browser forgets. */
export interface RememberedUpload
  extends Pick<
    UploadItem,
    | "actionKey"
    | "filename"
    | "sizeBytes"
    | "lastModified"
    | "assetId"
    | "title"
    | "description"
    | "sentBytes"
  > {
  readonly multipart: MultipartState | null;
}

/** Unfinished uploads of one account on this device. What can't be read or kept is done without. */
export class RememberedUploads {
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly #name: string;

  constructor(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">, accountId: string) {
    this.#storage = storage;
    this.#name = `reelkeep.uploads.${accountId}`;
  }

  all(): RememberedUpload[] {
    try {
      const stored: unknown = JSON.parse(this.#storage.getItem(this.#name) ?? "[]");
      return Array.isArray(stored) ? stored.filter(isRemembered) : [];
    } catch {
      return [];
    }
  }

  keep(upload: RememberedUpload): void {
    this.#write([...this.all().filter(({ actionKey }) => actionKey !== upload.actionKey), upload]);
  }

  forget(actionKey: string): void {
    this.#write(this.all().filter((upload) => upload.actionKey !== actionKey));
  }

  find(actionKey: string): RememberedUpload | undefined {
    return this.all().find((upload) => upload.actionKey === actionKey);
  }

  /** The upload that was interrupted while sending just this file. */
  matching(file: Pick<File, "name" | "size" | "lastModified">): RememberedUpload | undefined {
    return this.all().find(
      ({ filename, sizeBytes, lastModified }) =>
        filename === file.name && sizeBytes === file.size && lastModified === file.lastModified,
    );
  }

  #write(uploads: readonly RememberedUpload[]): void {
    try {
      if (uploads.length === 0) this.#storage.removeItem(this.#name);
      else this.#storage.setItem(this.#name, JSON.stringify(uploads));
    } catch {
      // Full or forbidden storage: the upload itself goes on, it only can't outlive the page.
    }
  }
}

function isRemembered(value: unknown): value is RememberedUpload {
  if (typeof value !== "object" || value === null) return false;
  const upload = value as Record<string, unknown>;
  return (
    ["actionKey", "filename", "title", "description"].every((name) => typeof upload[name] === "string") &&
    ["sizeBytes", "lastModified", "sentBytes"].every((name) => typeof upload[name] === "number")
  );
}
