import type { SignedCookie } from "@reelkeep/aws/media-signer";
import type { Actor } from "@reelkeep/core/access/policy";
import type { PlaybackGrant, PlaybackRequest } from "@reelkeep/core/api/assets";
import { AppError } from "@reelkeep/core/errors";
import { findReplacedVersion } from "@reelkeep/db/media-versions";
import { shownPoster } from "./choose-poster.ts";
import type { ServiceContext } from "./context.ts";
import { createPosterSigner } from "./grant-posters.ts";
import { requireAsset } from "./read-asset.ts";

/** How long a version that was replaced may be watched on. */
const replacedSeconds = 24 * 3600;

/**
 * D2: lets one person watch one version for a while: cookies for exactly its prefix. The player renews well before
 * they end, and every renewal asks the policy again, so a revoked viewer stops within one lifetime.
 * Whoever names the version that they watch keeps it for a day after another took its place; then, as whoever names
 * none, they get the active one.
 *
 * @throws AppError `not-found` for whoever may not watch, or where nothing was published yet.
 */
export async function grantPlayback(
  needs: Pick<ServiceContext, "db" | "mediaSigner" | "playbackSeconds">,
  actor: Actor,
  assetId: string,
  { versionId }: PlaybackRequest = {},
  now = Date.now(),
): Promise<{ grant: PlaybackGrant; cookies: SignedCookie[] }> {
  const { asset, version: active } = await requireAsset(needs, actor, assetId, "watch");
  if (!active) throw new AppError("not-found");
  const replaced =
    versionId && versionId !== active.id
      ? await findReplacedVersion(needs.db, { assetId, versionId, withinSeconds: replacedSeconds })
      : null;
  const version = replaced ?? active;
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
      posterUrl: createPosterSigner(mediaSigner, actor, now)(asset.ownerId, shownPoster(asset, version)),
      storyboardUrl: version.storyboardName
        ? `${mediaSigner.baseUrl}/${version.prefix}${version.storyboardName}`
        : null,
      durationSeconds: version.durationSeconds,
      expiresAt: expiresAt.toISOString(),
      renewAfterSeconds: Math.floor(playbackSeconds / 2),
    },
  };
}
