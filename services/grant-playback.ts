import type { SignedCookie } from "@reelkeep/aws/media-signer";
import type { Actor } from "@reelkeep/core/access/policy";
import type { PlaybackGrant } from "@reelkeep/core/api/assets";
import { AppError } from "@reelkeep/core/errors";
import type { ServiceContext } from "./context.ts";
import { createPosterSigner } from "./grant-posters.ts";
import { requireAsset } from "./read-asset.ts";

/**
 * D2: lets one person watch one version for a while: cookies for exactly its prefix. The player renews well before
 * they end, and every renewal asks the policy again, so a revoked viewer stops within one lifetime.
 *
 * @throws AppError `not-found` for whoever may not watch, or where nothing was published yet.
 */
export async function grantPlayback(
  needs: Pick<ServiceContext, "db" | "mediaSigner" | "playbackSeconds">,
  actor: Actor,
  assetId: string,
  now = Date.now(),
): Promise<{ grant: PlaybackGrant; cookies: SignedCookie[] }> {
  const { asset, version } = await requireAsset(needs, actor, assetId, "watch");
  if (!version) throw new AppError("not-found");
  const { mediaSigner, playbackSeconds } = needs;
  const expiresAt = new Date(now + playbackSeconds * 1000);
  return {
    cookies: mediaSigner.cookiesFor(version.prefix, expiresAt),
    grant: {
      assetId,
      versionId: version.id,
      versionNumber: version.versionNumber,
      title: asset.title,
      manifestUrl: `${mediaSigner.baseUrl}/${version.prefix}${version.masterName}`,
      posterUrl: createPosterSigner(mediaSigner, actor, now)(asset.ownerId, version),
      durationSeconds: version.durationSeconds,
      expiresAt: expiresAt.toISOString(),
      renewAfterSeconds: Math.floor(playbackSeconds / 2),
    },
  };
}
