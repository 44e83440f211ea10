import type { Actor } from "@reelkeep/core/access/policy";
import { AppError, errorInfo } from "@reelkeep/core/errors";
import { enterDeletion } from "@reelkeep/db/deletion-ledger";
import { expire, findAbandonedUploads, findUpload, type Upload } from "@reelkeep/db/uploads";
import { admitUpload } from "./admit-upload.ts";
import type { ServiceContext } from "./context.ts";

type Needs = Pick<ServiceContext, "db" | "store" | "uploadLimits" | "profile">;

const quietSeconds = 24 * 3600;
const batch = 100;

/**
 * U7: the sweep of abandoned uploads. It looks first: an object that is there has lost its event and is admitted.
 * The others expire; their parts and whatever arrives late are removed.
 */
export async function expireUploads(needs: Needs): Promise<{ admitted: number; expired: number }> {
  const result = { admitted: 0, expired: 0 };
  for (const upload of await findAbandonedUploads(needs.db, quietSeconds, batch)) {
    if (await admitUpload(needs, upload)) result.admitted++;
    else if (await endUpload(needs, upload, "upload-expired")) result.expired++;
  }
  return result;
}

/**
 * Gives an upload up at its owner's wish. Nothing happens where it has ended already.
 *
 * @throws AppError `not-found` for somebody else's.
 */
export async function giveUpUpload(
  needs: Pick<Needs, "db" | "store">,
  actor: Actor,
  actionKey: string,
): Promise<void> {
  const upload = await findUpload(needs.db, actionKey);
  if (upload?.userId !== actor.userId) throw new AppError("not-found");
  await endUpload(needs, upload, "upload-given-up");
}

/** The row first, so that nothing more is signed; then the parts; then, through the ledger, what comes late. */
async function endUpload(
  { db, store }: Pick<Needs, "db" | "store">,
  upload: Upload,
  code: "upload-expired" | "upload-given-up",
): Promise<boolean> {
  const ended = await db.transaction(async (tx) => {
    const expired = await expire(tx, upload.actionKey, code, errorInfo(code).message);
    if (expired)
      await enterDeletion(tx, { kind: "object", target: upload.key, reason: code, delaySeconds: 0 });
    return expired !== null;
  });
  if (ended)
    for (const { key, uploadId } of await store.listMultipartUploads(upload.key))
      await store.abortMultipartUpload(key, uploadId);
  return ended;
}
