import { type Actor, mayDoWith } from "@reelkeep/core/access/policy";
import type { MediaStatus } from "@reelkeep/core/api/media";
import { AppError } from "@reelkeep/core/errors";
import { findMediaStatus } from "@reelkeep/db/media-status";
import type { ServiceContext } from "./context.ts";
import { describeMedia } from "./describe-media.ts";

/**
 * U8: what became of one upload, for its owner and admins.
 *
 * @throws AppError `not-found` for everybody else: that it exists is nobody else's business.
 */
export async function getMediaStatus(
  { db }: Pick<ServiceContext, "db">,
  actor: Actor,
  actionKey: string,
): Promise<MediaStatus> {
  const row = await findMediaStatus(db, actionKey);
  if (!row) throw new AppError("not-found");
  const facts = { ownerId: row.ownerId, state: row.assetState, invited: false };
  if (!mayDoWith(actor, "see-details", facts) && row.upload.userId !== actor.userId)
    throw new AppError("not-found");
  return describeMedia(row, actor);
}
