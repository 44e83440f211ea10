/** From playlists to text. */
import { quoted } from "./attributes.ts";
import type { AlternativeRendition, MediaPlaylist, MultivariantPlaylist, Variant } from "./types.ts";

/** The text of a media playlist, with its final line break. Durations keep six decimals. */
export function stringifyMediaPlaylist(playlist: MediaPlaylist): string {
  let mapUri: string | null = null;
  const segments = playlist.segments.flatMap((segment) => {
    const lines = segment.discontinuity ? ["#EXT-X-DISCONTINUITY"] : [];
    if (segment.mapUri !== null && segment.mapUri !== mapUri)
      lines.push(`#EXT-X-MAP:URI=${quoted(segment.mapUri)}`);
    mapUri = segment.mapUri;
    return [...lines, `#EXTINF:${segment.durationSeconds.toFixed(6)},`, plainUri(segment.uri)];
  });
  return text([
    "#EXTM3U",
    `#EXT-X-VERSION:${playlist.version}`,
    `#EXT-X-TARGETDURATION:${playlist.targetDurationSeconds}`,
    `#EXT-X-MEDIA-SEQUENCE:${playlist.mediaSequence}`,
    playlist.playlistType && `#EXT-X-PLAYLIST-TYPE:${playlist.playlistType}`,
    playlist.independentSegments && "#EXT-X-INDEPENDENT-SEGMENTS",
    ...segments,
    playlist.ended && "#EXT-X-ENDLIST",
  ]);
}

/** The text of a multivariant playlist, with its final line break. Frame rates keep three decimals. */
export function stringifyMultivariantPlaylist(playlist: MultivariantPlaylist): string {
  return text([
    "#EXTM3U",
    `#EXT-X-VERSION:${playlist.version}`,
    playlist.independentSegments && "#EXT-X-INDEPENDENT-SEGMENTS",
    ...playlist.renditions.map(renditionLine),
    ...playlist.variants.flatMap((variant) => [streamInfLine(variant), plainUri(variant.uri)]),
  ]);
}

function renditionLine(rendition: AlternativeRendition): string {
  return `#EXT-X-MEDIA:${attributes([
    ["TYPE", rendition.type],
    ["GROUP-ID", quoted(rendition.groupId)],
    ["NAME", quoted(rendition.name)],
    ["LANGUAGE", rendition.language === null ? null : quoted(rendition.language)],
    ["DEFAULT", rendition.isDefault ? "YES" : "NO"],
    ["AUTOSELECT", rendition.autoselect ? "YES" : "NO"],
    ["FORCED", rendition.isForced ? "YES" : null],
    ["CHANNELS", rendition.channels === null ? null : quoted(rendition.channels)],
    ["URI", rendition.uri === null ? null : quoted(rendition.uri)],
  ])}`;
}

function streamInfLine(variant: Variant): string {
  const { resolution, averageBandwidthBps, frameRate, audioGroupId, subtitlesGroupId } = variant;
  return `#EXT-X-STREAM-INF:${attributes([
    ["BANDWIDTH", String(variant.bandwidthBps)],
    ["AVERAGE-BANDWIDTH", averageBandwidthBps === null ? null : String(averageBandwidthBps)],
    ["CODECS", variant.codecs.length === 0 ? null : quoted(variant.codecs.join(","))],
    ["RESOLUTION", resolution && `${resolution.width}x${resolution.height}`],
    ["FRAME-RATE", frameRate === null ? null : frameRate.toFixed(3)],
    ["AUDIO", audioGroupId === null ? null : quoted(audioGroupId)],
    ["SUBTITLES", subtitlesGroupId === null ? null : quoted(subtitlesGroupId)],
    ["CLOSED-CAPTIONS", variant.closedCaptions],
  ])}`;
}

const attributes = (pairs: readonly (readonly [string, string | null])[]): string =>
  pairs.flatMap(([name, value]) => (value === null ? [] : `${name}=${value}`)).join(",");

/** A URI stands alone on its line. @throws RangeError for one that couldn't be read back. */
function plainUri(uri: string): string {
  if (uri === "" || uri.startsWith("#") || uri !== uri.trim() || /[\r\n]/.test(uri))
    throw new RangeError("not a URI that a playlist can hold");
  return uri;
}

const text = (lines: readonly (string | false | null)[]): string =>
  `${lines.filter((line) => line !== false && line !== null).join("\n")}\n`;
