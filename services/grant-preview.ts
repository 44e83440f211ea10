import type { SignedCookie } from "@reelkeep/aws/media-signer";
import type { Actor } from "@reelkeep/core/access/policy";
import type { PreviewGrant } from "@reelkeep/core/api/media";
import { AppError } from "@reelkeep/core/errors";
import { previewName } from "@reelkeep/core/object-keys";
import { findRunningAttempt } from "@reelkeep/db/job-attempts";
import type { ServiceContext } from "./context.ts";
import { getMediaStatus } from "./get-media-status.ts";

/**
 * M10: lets a video's owner and admins watch the part that is ready while the rest is being made: cookies for exactly
 * the running attempt's prefix. Another attempt writes below another, so its preview is asked for anew.
 *
 * @throws AppError `not-found` for everybody else, and where nothing can be watched yet or any more.
 */
export async function grantPreview(
  needs: Pick<ServiceContext, "db" | "mediaSigner" | "playbackSeconds">,
  actor: Actor,
  actionKey: string,
  now = Date.now(),
): Promise<{ grant: PreviewGrant; cookies: SignedCookie[] }> {
  const { preview } = await getMediaStatus(needs, actor, actionKey);
  const attempt = preview && (await findRunningAttempt(needs.db, actionKey));
  if (!attempt) throw new AppError("not-found");
  const { mediaSigner, playbackSeconds } = needs;
  const expiresAt = new Date(now + playbackSeconds * 1000);
  return {
    cookies: mediaSigner.cookiesFor(attempt.outputPrefix, expiresAt),
    grant: {
      attemptNumber: attempt.attemptNumber,
      manifestUrl: `${mediaSigner.baseUrl}/${attempt.outputPrefix}${previewName}`,
      expiresAt: expiresAt.toISOString(),
      renewAfterSeconds: Math.floor(playbackSeconds / 2),
    },
  };
}
