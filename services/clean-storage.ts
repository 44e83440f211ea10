import { toAppError } from "@reelkeep/core/errors";
import { secondLookSeconds } from "@reelkeep/core/job/policy";
import { parseSourceKey } from "@reelkeep/core/object-keys";
import {
  dropDeletion,
  isStillNeeded,
  markDeleted,
  postponeDeletion,
  takeDueDeletion,
} from "@reelkeep/db/deletion-ledger";
import type { ServiceContext } from "./context.ts";

/** Longer than any one deletion takes; a sweep that dies leaves its entry to others after it. */
const holdSeconds = 600;

/**
 * J5, U6, U7: carries out the deletion ledger: the only place that deletes from the bucket. Answers how many entries it
 * deleted. Stops at the first failure of storage, which the entry records; the next sweep goes on.
 */
export async function cleanStorage({ db, store }: Pick<ServiceContext, "db" | "store">): Promise<number> {
  for (let deleted = 0; ; deleted++) {
    const entry = await takeDueDeletion(db, holdSeconds);
    if (!entry) return deleted;
    if (await isStillNeeded(db, entry)) {
      await dropDeletion(db, entry);
      continue;
    }
    try {
      if (entry.kind === "prefix") await store.removePrefix(entry.target);
      else await removeObject(store, entry.target);
    } catch (error) {
      await postponeDeletion(db, entry, toAppError(error, "storage-unavailable").message);
      return deleted;
    }
    await markDeleted(db, entry, secondLookSeconds);
  }
}

/** U7: parts first, so that none of them becomes an object after the look. */
async function removeObject(store: ServiceContext["store"], key: string): Promise<void> {
  if (parseSourceKey(key))
    for (const { uploadId, ...upload } of await store.listMultipartUploads(key))
      if (upload.key === key) await store.abortMultipartUpload(key, uploadId);
  await store.remove([key]);
}
