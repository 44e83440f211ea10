import type { Actor } from "@reelkeep/core/access/policy";
import { AppError, errorInfo } from "@reelkeep/core/errors";
import { enterDeletion } from "@reelkeep/db/deletion-ledger";
import { expire, findAbandonedUploads, findUpload, type Upload } from "@reelkeep/db/uploads";
import { admitUpload } from "./admit-upload.ts";
import type { ServiceContext } from "./context.ts";
import { type SweepFailure, sweep } from "./sweep.ts";

type Needs = Pick<ServiceContext, "db" | "store" | "uploadLimits" | "profile" | "probeScript">;

const quietSeconds = 24 * 3600;
const batch = 100;

/**
 * U7: the sweep of abandoned uploads. It looks first: an object that is there has lost its event and is admitted.
 * The others expire; their parts and whatever arrives late are removed. Answers how many of each there were, and the
 * uploads that couldn't be dealt with this time.
 */
export async function expireUploads(
  needs: Needs,
): Promise<{ admitted: number; expired: number; failures: SweepFailure[] }> {
  const abandoned = await findAbandonedUploads(needs.db, quietSeconds, batch);
  const { done, failures } = await sweep(abandoned, async (upload) => {
    if (await admitUpload(needs, upload)) return "admitted";
    return (await endUpload(needs.db, upload, "upload-expired")) ? "expired" : "ended";
  });
  const count = (outcome: (typeof done)[number]) => done.filter((each) => each === outcome).length;
  return { admitted: count("admitted"), expired: count("expired"), failures };
}

/**
 * Gives an upload up at its owner's wish. Nothing happens where it has ended already.
 *
 * @throws AppError `not-found` for somebody else's.
 */
export async function giveUpUpload(
  { db }: Pick<Needs, "db">,
  actor: Actor,
  actionKey: string,
): Promise<void> {
  const upload = await findUpload(db, actionKey);
  if (upload?.userId !== actor.userId) throw new AppError("not-found");
  await endUpload(db, upload, "upload-given-up");
}

/** The row, so that nothing more is signed; parts, and what comes late, go through the ledger. */
const endUpload = (
  db: Needs["db"],
  upload: Upload,
  code: "upload-expired" | "upload-given-up",
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const expired = await expire(tx, upload.actionKey, code, errorInfo(code).message);
    if (expired)
      await enterDeletion(tx, { kind: "object", target: upload.key, reason: code, delaySeconds: 0 });
    return expired !== null;
  });
