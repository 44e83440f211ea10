import type { SendingFacts } from "@reelkeep/core/words/sending";

/** One file on its way, as the panel shows it. */
export interface UploadItem extends SendingFacts {
  readonly actionKey: string;
  readonly lastModified: number;
  /** Known once the server has allowed the upload. */
  readonly assetId: string | null;
  readonly title: string;
  readonly description: string;
  /** Whether the server has the title and description that are shown. */
  readonly detailsSaved: boolean;
  readonly problem: { readonly code: string; readonly message: string; readonly next: string } | null;
}

/** All files on their way, in the order in which they were chosen. Changes make a new array; listeners are told. */
export class UploadStore {
  #items: readonly UploadItem[] = [];
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly items = (): readonly UploadItem[] => this.#items;

  find(actionKey: string): UploadItem | undefined {
    return this.#items.find((item) => item.actionKey === actionKey);
  }

  add(item: UploadItem): void {
    this.#set([...this.#items, item]);
  }

  change(actionKey: string, change: Partial<UploadItem>): void {
    this.#set(this.#items.map((item) => (item.actionKey === actionKey ? { ...item, ...change } : item)));
  }

  remove(actionKey: string): void {
    this.#set(this.#items.filter((item) => item.actionKey !== actionKey));
  }

  #set(items: readonly UploadItem[]): void {
    this.#items = items;
    for (const listener of this.#listeners) listener();
  }
}
