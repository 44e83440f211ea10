/**
 * Where objects lie in the bucket: every key is built and parsed here and nowhere else.
 *
 * `uploads/{userId}/{actionKey}/source.{ext}` is what a creator sent;
 * `processed/{userId}/{actionKey}/attempt-{n}/…` is what one attempt wrote. A version is exactly one such
 * prefix, so one cookie policy opens exactly one version and an orphan can't touch its successor's output.
 * Keys in the database are relative to the bucket; no host and no leading slash.
 */
export const processedPrefix = "processed/";

const idPattern = "[A-Za-z0-9_-]{1,64}";
const actionKeyPattern = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const sourceKeyPattern = new RegExp(
  `^uploads/(${idPattern})/(${actionKeyPattern})/source\\.([a-z0-9]{2,5})$`,
);
const attemptPrefixPattern = new RegExp(
  `^processed/(${idPattern})/(${actionKeyPattern})/attempt-([1-9]\\d*)/$`,
);

export interface SourceKeyParts {
  readonly userId: string;
  readonly actionKey: string;
  /** Lower case, without the dot. */
  readonly extension: string;
}

/** The key of an upload's one source object. @throws RangeError when a part isn't well-formed. */
export function sourceKey(parts: SourceKeyParts): string {
  const key = `uploads/${parts.userId}/${parts.actionKey}/source.${parts.extension}`;
  if (!sourceKeyPattern.test(key)) throw new RangeError(`not a source key: ${key}`);
  return key;
}

/** The parts of a source key, or null where the key isn't one of ours. */
export function parseSourceKey(key: string): SourceKeyParts | null {
  const [, userId, actionKey, extension] = sourceKeyPattern.exec(key) ?? [];
  return userId && actionKey && extension ? { userId, actionKey, extension } : null;
}

export interface AttemptPrefixParts {
  readonly userId: string;
  readonly actionKey: string;
  /** 1 for the first attempt of the job; never reused. */
  readonly attemptNumber: number;
}

/** The prefix (with its final slash) that one attempt writes below. @throws RangeError on malformed parts. */
export function attemptPrefix(parts: AttemptPrefixParts): string {
  const prefix = `processed/${parts.userId}/${parts.actionKey}/attempt-${parts.attemptNumber}/`;
  if (!attemptPrefixPattern.test(prefix)) throw new RangeError(`not an attempt prefix: ${prefix}`);
  return prefix;
}

/** The parts of an attempt's prefix, or null where it isn't one of ours. */
export function parseAttemptPrefix(prefix: string): AttemptPrefixParts | null {
  const [, userId, actionKey, number] = attemptPrefixPattern.exec(prefix) ?? [];
  return userId && actionKey && number ? { userId, actionKey, attemptNumber: Number(number) } : null;
}

/** File names below a version's prefix. Renditions are folders named by their rung. */
export const masterName = "master.m3u8";
/** What a creator watches while the rest is still being made: the smallest rendition alone. */
export const previewName = "preview.m3u8";
/** Suggestions for a poster, from 1; the first stands for the video until somebody chooses. */
export const posterName = (number: number): string => `poster-${number}.jpg`;
export const isPosterName = (name: string): boolean => /^poster-[1-9]\.jpg$/.test(name);
/** Sheets of small pictures, and the WebVTT that says which piece of which sheet belongs to which time. */
export const storyboardName = "storyboard/storyboard.vtt";
export const storyboardSheetName = (number: number): string =>
  `storyboard/sheet_${String(number).padStart(5, "0")}.jpg`;
/** Folders of the sound tracks and of the subtitles, from 1. */
export const soundFolder = (number: number): string => (number === 1 ? "audio" : `audio-${number}`);
export const subtitlesFolder = (number: number): string => `subtitles-${number}`;
/** A worker's notes of what is whole in storage, for a later attempt; no player asks for them. */
export const checkpointName = (part: string): string => `checkpoints/${part}.json`;
export const playlistName = (rendition: string): string => `${rendition}/playlist.m3u8`;
/** Whether a version may hold this at its top, beside the renditions of these names. */
export const isResultName = (name: string, renditions: readonly string[]): boolean =>
  [masterName, previewName, "storyboard", "checkpoints", ...renditions].includes(name) ||
  isPosterName(name) ||
  /^(audio(-\d+)?|subtitles-\d+)$/.test(name);

/** `number` counts from 1. */
export const segmentName = (rendition: string, number: number, extension: "ts" | "vtt" = "ts"): string =>
  `${rendition}/segment_${String(number).padStart(5, "0")}.${extension}`;

/**
 * What stands, in a policy of the CDN, for the posters of all of a person's versions whose attempt number has as
 * many digits as this one; null from three digits on. Made of `?`, which is exactly one character, because a policy
 * is compared with an address and its query: after a `*`, `master.m3u8?/poster-1.jpg` would be a poster.
 */
export function posterPattern(of: Pick<AttemptPrefixParts, "userId" | "attemptNumber">): string | null {
  const digits = String(of.attemptNumber).length;
  if (digits > 2) return null;
  return `${processedPrefix}${of.userId}/${"?".repeat(36)}/attempt-${"?".repeat(digits)}/poster-?.jpg`;
}

/** The Content-Type by which an object of a version is stored, from its name's ending. */
export function contentTypeOf(name: string): string {
  const types: Record<string, string> = {
    m3u8: "application/vnd.apple.mpegurl",
    ts: "video/mp2t",
    vtt: "text/vtt; charset=utf-8",
    json: "application/json",
    jpg: "image/jpeg",
    webp: "image/webp",
  };
  return types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}
