import type { MediaSigner } from "@reelkeep/aws/media-signer";
import type { Actor } from "@reelkeep/core/access/policy";
import { isPosterName, parseAttemptPrefix, posterPattern } from "@reelkeep/core/object-keys";

const validSeconds = 3600;

/** A poster's signed address. */
export type PosterSigner = (
  ownerId: string,
  version: { prefix: string; posterName: string | null },
) => string | null;

/**
 * D2: the posters of one page. A person's own posters (and, for an admin, each owner's) share one signed grant with
 * single-character wildcards, so a page costs one signature an owner (two where some attempts had two digits); an
 * invited person gets a grant for just that version's poster.
 */
export function createPosterSigner(signer: MediaSigner, actor: Actor, now = Date.now()): PosterSigner {
  // Rounded up to half an hour, so that a page asked for again has the same addresses and the browser's cache holds.
  const half = (validSeconds / 2) * 1000;
  const expiresAt = new Date(Math.ceil(now / half) * half + half);
  const grants = new Map<string, string>();
  return (ownerId, version) => {
    if (!version.posterName) return null;
    const key = version.prefix + version.posterName;
    const wide = actor.role === "admin" || actor.userId === ownerId;
    const attempt = isPosterName(version.posterName) ? parseAttemptPrefix(version.prefix) : null;
    const pattern = (wide && attempt?.userId === ownerId && posterPattern(attempt)) || key;
    const query = grants.get(pattern) ?? signer.signedQuery(pattern, expiresAt);
    grants.set(pattern, query);
    return `${signer.baseUrl}/${key}?${query}`;
  };
}
