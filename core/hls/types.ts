/** Playlists of RFC 8216 (HTTP Live Streaming), as far as stored video needs them. */

/** RFC 8216 §4.3.2. `uri` is as written: relative to the playlist, or not. */
export interface MediaSegment {
  readonly uri: string;
  readonly durationSeconds: number;
  /** The media initialization section (EXT-X-MAP) that the segment needs; MPEG-TS has none. */
  readonly mapUri: string | null;
  /** Whether time stamps or encoding change before this segment. */
  readonly discontinuity: boolean;
}

/** RFC 8216 §4.3.3. */
export interface MediaPlaylist {
  readonly kind: "media";
  readonly version: number;
  readonly targetDurationSeconds: number;
  readonly mediaSequence: number;
  readonly playlistType: "VOD" | "EVENT" | null;
  readonly independentSegments: boolean;
  /** Whether EXT-X-ENDLIST is there: no segment will follow. */
  readonly ended: boolean;
  readonly segments: readonly MediaSegment[];
}

/** EXT-X-MEDIA, RFC 8216 §4.3.4.1. */
export interface AlternativeRendition {
  readonly type: "AUDIO" | "VIDEO" | "SUBTITLES" | "CLOSED-CAPTIONS";
  readonly groupId: string;
  readonly name: string;
  readonly language: string | null;
  readonly uri: string | null;
  readonly isDefault: boolean;
  readonly autoselect: boolean;
  /** Subtitles for everybody: of what is foreign in the film itself. */
  readonly isForced: boolean;
  readonly channels: string | null;
}

/** EXT-X-STREAM-INF and its URI, RFC 8216 §4.3.4.2. Bandwidths count everything that plays together. */
export interface Variant {
  readonly uri: string;
  readonly bandwidthBps: number;
  readonly averageBandwidthBps: number | null;
  /** RFC 6381 codec strings. */
  readonly codecs: readonly string[];
  readonly resolution: { readonly width: number; readonly height: number } | null;
  readonly frameRate: number | null;
  readonly audioGroupId: string | null;
  readonly subtitlesGroupId: string | null;
  /** `NONE`: there are certainly no captions inside the video; null: not said (or a group, which isn't kept). */
  readonly closedCaptions: "NONE" | null;
}

/** RFC 8216 calls it a master playlist, its successor a multivariant playlist. */
export interface MultivariantPlaylist {
  readonly kind: "multivariant";
  readonly version: number;
  readonly independentSegments: boolean;
  readonly renditions: readonly AlternativeRendition[];
  readonly variants: readonly Variant[];
}

/** A playlist that can't be read. `line` counts from 1. */
export class PlaylistError extends Error {
  override readonly name = "PlaylistError";
  readonly line: number;

  constructor(problem: string, line: number) {
    super(`line ${line}: ${problem}`);
    this.line = line;
  }
}
