/** Where an attempt's output goes. Names are relative to the version's prefix, e.g. `720p/segment_00001.ts`. */

/** An object as storage knows it. */
export interface StoredObject {
  readonly name: string;
  readonly sizeBytes: number;
  readonly etag: string;
}

/** Throws AppError `storage-unavailable` (retryable) where trying again may help. */
export interface OutputStore {
  put(name: string, filePath: string, contentType: string, signal?: AbortSignal): Promise<StoredObject>;
  /** `changes`: it will be replaced, so nobody may keep it. */
  putText(
    name: string,
    text: string,
    contentType: string,
    signal?: AbortSignal,
    changes?: boolean,
  ): Promise<StoredObject>;
  /** @throws when the object isn't there. */
  readText(name: string, signal?: AbortSignal): Promise<string>;
  /** Everything below the prefix. */
  list(signal?: AbortSignal): Promise<readonly StoredObject[]>;
}

/** What an earlier attempt of the same job wrote below its own prefix. */
export interface EarlierOutput {
  /** @throws when the object isn't there. */
  readText(name: string, signal?: AbortSignal): Promise<string>;
  /** Copies an object below this attempt's prefix, inside storage; null when it isn't there with that ETag. */
  copyHere(object: StoredObject, signal?: AbortSignal): Promise<StoredObject | null>;
}

/** The same store, which tells of each answer (J12). */
export function tellingStore(store: OutputStore, onAnswer: () => void): OutputStore {
  const telling =
    <Words extends unknown[], Answer>(ask: (...words: Words) => Promise<Answer>) =>
    async (...words: Words): Promise<Answer> => {
      const answer = await ask(...words);
      onAnswer();
      return answer;
    };
  return {
    put: telling(store.put),
    putText: telling(store.putText),
    readText: telling(store.readText),
    list: telling(store.list),
  };
}
