import { changeAsset } from "../api-client.ts";
import type { UploadStore } from "./upload-store.ts";

const restMs = 700;

/** Sends titles and descriptions that are typed while a file is on its way, shortly after the last keystroke. */
export class DetailsSaver {
  readonly #store: UploadStore;
  readonly #timers = new Map<string, number>();

  constructor(store: UploadStore) {
    this.#store = store;
  }

  /** Saves soon. Before the server knows the video there is nothing to change: the upload's request brings it. */
  schedule(actionKey: string): void {
    window.clearTimeout(this.#timers.get(actionKey));
    this.#timers.set(
      actionKey,
      window.setTimeout(() => void this.save(actionKey), restMs),
    );
  }

  /** Saves now what isn't saved yet. A failure leaves it unsaved: the next change or the upload's end tries again. */
  async save(actionKey: string): Promise<void> {
    window.clearTimeout(this.#timers.get(actionKey));
    const item = this.#store.find(actionKey);
    if (!item?.assetId || item.detailsSaved) return;
    const title = item.title.trim();
    const description = item.description.trim();
    try {
      await changeAsset(item.assetId, { ...(title && { title }), description });
    } catch {
      return;
    }
    const now = this.#store.find(actionKey);
    if (now && now.title === item.title && now.description === item.description)
      this.#store.change(actionKey, { detailsSaved: true });
  }
}
