/** Single files and texts on their way to storage; storage that never answers doesn't hold up an end from outside. */
import { contentTypeOf } from "@reelkeep/core/object-keys";
import { untilAborted } from "../reject-when-aborted.ts";
import type { OutputStore, StoredObject } from "./output-store.ts";
import { withRetries } from "./retries.ts";

/** Stores a file by its name's type, patiently. */
export const putFile = (
  store: OutputStore,
  name: string,
  path: string,
  signal?: AbortSignal,
): Promise<StoredObject> =>
  withRetries(() => untilAborted(store.put(name, path, contentTypeOf(name), signal), signal), signal);

/** Stores a text by its name's type, patiently. `changes`: it is a draft that will be replaced. */
export const putText = (
  store: OutputStore,
  name: string,
  text: string,
  signal?: AbortSignal,
  changes = false,
): Promise<StoredObject> =>
  withRetries(
    () => untilAborted(store.putText(name, text, contentTypeOf(name), signal, changes), signal),
    signal,
  );
