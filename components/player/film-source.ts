/** Where a player's film comes from: a published version, or what an attempt has made so far. */
import { grantPlayback, grantPreview } from "../api-client.ts";

/** Permission to play for a while; asking for it sets the cookies. */
export interface FilmGrant {
  readonly manifestUrl: string;
  readonly posterUrl: string | null;
  readonly storyboardUrl: string | null;
  readonly renewAfterSeconds: number;
  /** The published version that is played; null for a preview. */
  readonly versionId: string | null;
}

export interface FilmSource {
  /** The same for the same film. */
  readonly key: string;
  /** Whether more of it comes while it plays. */
  readonly isGrowing: boolean;
  /** `held` is what is being played: it goes on where it may. @throws ProblemError */
  ask(held: FilmGrant | null, signal?: AbortSignal): Promise<FilmGrant>;
}

/** The version that its asset shows. */
export const publishedFilm = (assetId: string): FilmSource => ({
  key: `asset ${assetId}`,
  isGrowing: false,
  ask: (held, signal) => grantPlayback(assetId, held?.versionId ? { versionId: held.versionId } : {}, signal),
});

/** The part of a job's film that is ready. */
export const filmPreview = (actionKey: string): FilmSource => ({
  key: `preview ${actionKey}`,
  isGrowing: true,
  ask: async (_held, signal) => ({
    ...(await grantPreview(actionKey, signal)),
    posterUrl: null,
    storyboardUrl: null,
    versionId: null,
  }),
});
