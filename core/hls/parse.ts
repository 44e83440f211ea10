/** From text to playlists. Tags that aren't known are skipped, as RFC 8216 §6.3.1 asks of clients. */
import { parseAttributes } from "./attributes.ts";
import {
  type AlternativeRendition,
  type MediaPlaylist,
  type MediaSegment,
  type MultivariantPlaylist,
  PlaylistError,
  type Variant,
} from "./types.ts";

interface Line {
  readonly number: number;
  readonly text: string;
  /** `#EXTINF` of `#EXTINF:6,`; null for a URI. */
  readonly tag: string | null;
  /** What follows the tag's colon. */
  readonly value: string;
}

/**
 * Reads a media or a multivariant playlist; which one it is shows in its tags.
 * @throws PlaylistError when it isn't well-formed, mixes both kinds, or uses encryption or byte ranges, neither of
 * which stored video here has.
 */
export function parsePlaylist(text: string): MediaPlaylist | MultivariantPlaylist {
  const lines = readLines(text);
  if (lines[0]?.text !== "#EXTM3U") throw new PlaylistError("the first line isn't #EXTM3U", 1);
  const isMultivariant = lines.some(({ tag }) => tag === "#EXT-X-STREAM-INF" || tag === "#EXT-X-MEDIA");
  return isMultivariant ? parseMultivariant(lines) : parseMedia(lines);
}

/** @throws PlaylistError as `parsePlaylist` does, and for a multivariant playlist. */
export function parseMediaPlaylist(text: string): MediaPlaylist {
  const playlist = parsePlaylist(text);
  if (playlist.kind !== "media") throw new PlaylistError("not a media playlist", 1);
  return playlist;
}

/** @throws PlaylistError as `parsePlaylist` does, and for a media playlist. */
export function parseMultivariantPlaylist(text: string): MultivariantPlaylist {
  const playlist = parsePlaylist(text);
  if (playlist.kind !== "multivariant") throw new PlaylistError("not a multivariant playlist", 1);
  return playlist;
}

function readLines(text: string): Line[] {
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .map((raw, index) => {
      const line = raw.trim();
      const [, tag = null, value = ""] = /^(#EXT[A-Z0-9-]*)(?::(.*))?$/.exec(line) ?? [];
      return { number: index + 1, text: line, tag, value };
    })
    .filter(({ text: line, tag }) => line !== "" && (tag !== null || !line.startsWith("#")));
}

function parseMedia(lines: readonly Line[]): MediaPlaylist {
  const segments: MediaSegment[] = [];
  let version = 1;
  let targetDurationSeconds: number | null = null;
  let mediaSequence = 0;
  let playlistType: MediaPlaylist["playlistType"] = null;
  let independentSegments = false;
  let ended = false;
  let durationSeconds: number | null = null;
  let mapUri: string | null = null;
  let discontinuity = false;

  for (const line of lines) {
    switch (line.tag) {
      case "#EXT-X-VERSION":
        version = wholeNumber(line, line.value);
        break;
      case "#EXT-X-TARGETDURATION":
        targetDurationSeconds = wholeNumber(line, line.value);
        break;
      case "#EXT-X-MEDIA-SEQUENCE":
        mediaSequence = wholeNumber(line, line.value);
        break;
      case "#EXT-X-PLAYLIST-TYPE":
        if (line.value !== "VOD" && line.value !== "EVENT") fail(line, "unknown playlist type");
        else playlistType = line.value;
        break;
      case "#EXT-X-INDEPENDENT-SEGMENTS":
        independentSegments = true;
        break;
      case "#EXT-X-ENDLIST":
        ended = true;
        break;
      case "#EXTINF":
        durationSeconds = decimal(line, line.value.split(",")[0]!);
        break;
      case "#EXT-X-DISCONTINUITY":
        discontinuity = true;
        break;
      case "#EXT-X-MAP":
        mapUri = attributesOf(line).get("URI") ?? fail(line, "EXT-X-MAP without URI");
        if (attributesOf(line).has("BYTERANGE")) fail(line, "byte ranges are not supported");
        break;
      case "#EXT-X-KEY":
        if (attributesOf(line).get("METHOD") !== "NONE") fail(line, "encryption is not supported");
        break;
      case "#EXT-X-BYTERANGE":
        fail(line, "byte ranges are not supported");
        break;
      case null:
        if (durationSeconds === null) fail(line, "a URI without EXTINF");
        else segments.push({ uri: line.text, durationSeconds, mapUri, discontinuity });
        durationSeconds = null;
        discontinuity = false;
        break;
    }
  }
  const last = lines.at(-1)!;
  if (durationSeconds !== null) fail(last, "EXTINF without a URI");
  return {
    kind: "media",
    version,
    targetDurationSeconds: targetDurationSeconds ?? fail(last, "EXT-X-TARGETDURATION is missing"),
    mediaSequence,
    playlistType,
    independentSegments,
    ended,
    segments,
  };
}

function parseMultivariant(lines: readonly Line[]): MultivariantPlaylist {
  const renditions: AlternativeRendition[] = [];
  const variants: Variant[] = [];
  let version = 1;
  let independentSegments = false;
  let pending: Omit<Variant, "uri"> | null = null;

  for (const line of lines) {
    switch (line.tag) {
      case "#EXT-X-VERSION":
        version = wholeNumber(line, line.value);
        break;
      case "#EXT-X-INDEPENDENT-SEGMENTS":
        independentSegments = true;
        break;
      case "#EXT-X-MEDIA":
        renditions.push(parseRendition(line));
        break;
      case "#EXT-X-STREAM-INF":
        if (pending) fail(line, "EXT-X-STREAM-INF without a URI");
        pending = parseStreamInf(line);
        break;
      case "#EXTINF":
      case "#EXT-X-TARGETDURATION":
        fail(line, "a media playlist's tag in a multivariant playlist");
        break;
      case null:
        if (!pending) fail(line, "a URI without EXT-X-STREAM-INF");
        else variants.push({ uri: line.text, ...pending });
        pending = null;
        break;
    }
  }
  if (pending) fail(lines.at(-1)!, "EXT-X-STREAM-INF without a URI");
  return { kind: "multivariant", version, independentSegments, renditions, variants };
}

function parseRendition(line: Line): AlternativeRendition {
  const attributes = attributesOf(line);
  const type = attributes.get("TYPE");
  if (type !== "AUDIO" && type !== "VIDEO" && type !== "SUBTITLES" && type !== "CLOSED-CAPTIONS")
    return fail(line, "EXT-X-MEDIA without a known TYPE");
  return {
    type,
    groupId: attributes.get("GROUP-ID") ?? fail(line, "EXT-X-MEDIA without GROUP-ID"),
    name: attributes.get("NAME") ?? fail(line, "EXT-X-MEDIA without NAME"),
    language: attributes.get("LANGUAGE") ?? null,
    uri: attributes.get("URI") ?? null,
    isDefault: attributes.get("DEFAULT") === "YES",
    autoselect: attributes.get("AUTOSELECT") === "YES",
    isForced: attributes.get("FORCED") === "YES",
    channels: attributes.get("CHANNELS") ?? null,
  };
}

function parseStreamInf(line: Line): Omit<Variant, "uri"> {
  const attributes = attributesOf(line);
  const number = (name: string, read: (line: Line, text: string) => number) => {
    const text = attributes.get(name);
    return text === undefined ? null : read(line, text);
  };
  return {
    bandwidthBps: number("BANDWIDTH", wholeNumber) ?? fail(line, "EXT-X-STREAM-INF without BANDWIDTH"),
    averageBandwidthBps: number("AVERAGE-BANDWIDTH", wholeNumber),
    codecs: (attributes.get("CODECS") ?? "").split(",").flatMap((codec) => codec.trim() || []),
    resolution: parseResolution(line, attributes.get("RESOLUTION")),
    frameRate: number("FRAME-RATE", decimal),
    audioGroupId: attributes.get("AUDIO") ?? null,
    subtitlesGroupId: attributes.get("SUBTITLES") ?? null,
    closedCaptions: attributes.get("CLOSED-CAPTIONS") === "NONE" ? "NONE" : null,
  };
}

function parseResolution(line: Line, text: string | undefined): Variant["resolution"] {
  if (text === undefined) return null;
  const [, width, height] = /^(\d{1,6})x(\d{1,6})$/.exec(text) ?? [];
  if (!width || !height) return fail(line, "RESOLUTION isn't WIDTHxHEIGHT");
  return { width: Number(width), height: Number(height) };
}

const attributesOf = (line: Line): ReadonlyMap<string, string> =>
  parseAttributes(line.value) ?? fail(line, `${line.tag} has a malformed attribute list`);

function wholeNumber(line: Line, text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : fail(line, `"${text.slice(0, 40)}" isn't a whole number`);
}

function decimal(line: Line, text: string): number {
  return /^\d{1,15}(\.\d{0,15})?$/.test(text)
    ? Number(text)
    : fail(line, `"${text.slice(0, 40)}" isn't a number`);
}

function fail(line: Line, problem: string): never {
  throw new PlaylistError(problem, line.number);
}
