/** What must hold of a playlist beyond its syntax. Each function lists the problems; an empty list is good. */
import type { MediaPlaylist, MultivariantPlaylist } from "./types.ts";

/**
 * The name, below the version's prefix, that a playlist's reference means; null when it leaves the prefix, names
 * another host, or is written in a way that servers and players may read differently.
 */
export function resolveReference(playlistName: string, uri: string): string | null {
  if (!/^[A-Za-z0-9_./-]+$/.test(uri) || uri.startsWith("/")) return null;
  const path = playlistName.split("/").slice(0, -1);
  for (const step of uri.split("/")) {
    if (step === "" || step === ".") return null;
    if (step === "..") {
      if (path.pop() === undefined) return null;
    } else path.push(step);
  }
  return path.join("/");
}

/**
 * RFC 8216 §4.3.3.1: rounded to the nearest whole second, no EXTINF exceeds it. What is rounded is the EXTINF as it is
 * written, with six decimals: 1.4999999 s are 1.500000, and that is 2.
 */
export const targetDurationOf = (durationsSeconds: readonly number[]): number =>
  Math.max(1, ...durationsSeconds.map((seconds) => Math.round(Number(seconds.toFixed(6)))));

/** Problems of a finished media playlist that lies at `name` below the version's prefix. */
export function verifyMediaPlaylist(playlist: MediaPlaylist, name: string): string[] {
  const problems: string[] = [];
  const longestSeconds = Math.max(0, ...playlist.segments.map(({ durationSeconds }) => durationSeconds));
  if (playlist.segments.length === 0) problems.push(`${name} has no segments`);
  if (!playlist.ended) problems.push(`${name} has no EXT-X-ENDLIST`);
  if (playlist.targetDurationSeconds < Math.round(longestSeconds))
    problems.push(
      `${name} states ${playlist.targetDurationSeconds} s at most and has a segment of ${longestSeconds} s`,
    );
  if (playlist.segments.some(({ durationSeconds }) => !(durationSeconds > 0)))
    problems.push(`${name} has a segment without duration`);
  const references = playlist.segments.flatMap(({ uri, mapUri }) => (mapUri === null ? uri : [mapUri, uri]));
  problems.push(...outsideReferences(name, references));
  if (new Set(playlist.segments.map(({ uri }) => uri)).size !== playlist.segments.length)
    problems.push(`${name} names a segment twice`);
  return problems;
}

/** Problems of a multivariant playlist that lies at `name` below the version's prefix. */
export function verifyMultivariantPlaylist(playlist: MultivariantPlaylist, name: string): string[] {
  const problems: string[] = [];
  const { variants, renditions } = playlist;
  if (variants.length === 0) problems.push(`${name} has no variants`);
  for (const variant of variants) {
    if (variant.codecs.length === 0) problems.push(`${name}: ${variant.uri} has no CODECS`);
    if (!variant.resolution) problems.push(`${name}: ${variant.uri} has no RESOLUTION`);
    if (variant.bandwidthBps <= 0) problems.push(`${name}: ${variant.uri} has no BANDWIDTH`);
    if ((variant.averageBandwidthBps ?? 0) > variant.bandwidthBps)
      problems.push(`${name}: ${variant.uri} averages more than its peak`);
    for (const [type, groupId] of [
      ["AUDIO", variant.audioGroupId],
      ["SUBTITLES", variant.subtitlesGroupId],
    ] as const)
      if (groupId !== null && !renditions.some((r) => r.type === type && r.groupId === groupId))
        problems.push(`${name}: ${variant.uri} names the missing group ${groupId}`);
  }
  const references = [...variants, ...renditions].flatMap(({ uri }) => uri ?? []);
  return [...problems, ...outsideReferences(name, references)];
}

const outsideReferences = (name: string, uris: readonly string[]): string[] =>
  uris
    .filter((uri) => resolveReference(name, uri) === null)
    .map((uri) => `${name} refers to ${JSON.stringify(uri.slice(0, 200))}, outside its version`);
