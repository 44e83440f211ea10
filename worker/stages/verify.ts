/** Proves that what lies in storage is whole before anyone may see it (M7). */
import { AppError } from "@reelkeep/core/errors";
import { parseMediaPlaylist, parseMultivariantPlaylist } from "@reelkeep/core/hls/parse";
import { PlaylistError } from "@reelkeep/core/hls/types";
import { resolveReference, verifyMediaPlaylist, verifyMultivariantPlaylist } from "@reelkeep/core/hls/verify";
import { isPlannedAvc } from "@reelkeep/core/media/h264-level";
import { masterName, playlistName } from "@reelkeep/core/object-keys";
import type { EncodedTrack, TrackKind } from "./encode.ts";
import type { OutputStore, StoredObject } from "./output-store.ts";
import type { EncodePlan } from "./plan.ts";
import { secondsOf } from "./playlists.ts";
import { withRetries } from "./retries.ts";

/** A track of which everything is in storage and right. */
export interface CompleteRendition {
  readonly kind: TrackKind;
  /** Its folder: the rung's name, `audio`, … */
  readonly name: string;
  /** Below the version's prefix. */
  readonly playlist: string;
  readonly segmentCount: number;
  readonly durationSeconds: number;
}

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for each rendition as soon as it has passed. */
  readonly onRenditionComplete?: ((rendition: CompleteRendition) => void | Promise<void>) | undefined;
}

/** Playlists keep six decimals. */
const writtenPrecisionSeconds = 1e-5;

/**
 * Checks the stored output against the plan and the segments that were recorded while encoding, reading every
 * playlist back from storage. Returns the inventory: all objects below the prefix.
 * @throws AppError `verification-failed`, its cause listing every problem.
 */
export async function verifyOutput(
  store: OutputStore,
  plan: EncodePlan,
  tracks: readonly EncodedTrack[],
  options: VerifyOptions = {},
): Promise<readonly StoredObject[]> {
  const { signal } = options;
  const readText = (name: string) => withRetries(() => store.readText(name, signal), signal);
  const inventory = await withRetries(() => store.list(signal), signal);
  const stored = new Map(inventory.map((object) => [object.name, object]));
  const expected = [...plan.renditions.map(({ name }) => name), ...plan.sounds.map(({ folder }) => folder)];
  const made = tracks.filter(({ kind }) => kind !== "subtitles").map(({ name }) => name);
  require(sameSet(expected, made) ? [] : ["the renditions aren't those of the plan"]);

  for (const track of tracks) {
    const name = playlistName(track.name);
    const text = await readText(name);
    require([...verifyTrack(track, text, stored), ...verifyCodec(plan, track)]);
    await options.onRenditionComplete?.({
      kind: track.kind,
      name: track.name,
      playlist: name,
      segmentCount: track.segments.length,
      durationSeconds: secondsOf(track),
    });
  }
  require(verifyAlignment(plan, tracks));
  require(verifyMaster(plan, tracks, await readText(masterName), stored));
  return inventory;
}

/** One media playlist and its segments. */
function verifyTrack(track: EncodedTrack, text: string, stored: ReadonlyMap<string, StoredObject>): string[] {
  const name = playlistName(track.name);
  const playlist = readOr(() => parseMediaPlaylist(text));
  if (typeof playlist === "string") return [`${name}: ${playlist}`];
  const problems = verifyMediaPlaylist(playlist, name);
  if (playlist.segments.length !== track.segments.length)
    problems.push(`${name} lists ${playlist.segments.length} segments, ${track.segments.length} were cut`);
  track.segments.forEach((segment, index) => {
    const listed = playlist.segments[index];
    if (listed && resolveReference(name, listed.uri) !== segment.name)
      problems.push(`${name} lists ${listed.uri} in the place of ${segment.name}`);
    if (listed && Math.abs(listed.durationSeconds - segment.durationSeconds) > writtenPrecisionSeconds)
      problems.push(
        `${name} gives ${segment.name} ${listed.durationSeconds} s, not ${segment.durationSeconds}`,
      );
    const object = stored.get(segment.name);
    if (!object) problems.push(`${segment.name} isn't in storage`);
    else if (object.sizeBytes === 0 || object.sizeBytes !== segment.sizeBytes)
      problems.push(`${segment.name} has ${object.sizeBytes} bytes in storage, not ${segment.sizeBytes}`);
    else if (object.etag !== segment.etag) problems.push(`${segment.name} was changed after it was stored`);
  });
  return problems;
}

function verifyCodec(plan: EncodePlan, track: EncodedTrack): string[] {
  const planned = plan.renditions.find(({ name }) => name === track.name);
  // A copied stream is what the source says; its codec string was read from it.
  if (!planned || (plan.copied && planned === plan.renditions[0])) return [];
  const fits = isPlannedAvc(track.codec, { profile: planned.h264Profile, levelIdc: planned.h264LevelIdc });
  return fits
    ? []
    : [`${track.name} is ${track.codec}, not ${planned.h264Profile} ${planned.h264LevelIdc / 10}`];
}

/** All pictures are cut at the same times, so that a player may change between them at any segment. */
function verifyAlignment(plan: EncodePlan, tracks: readonly EncodedTrack[]): string[] {
  const [first, ...others] = tracks.filter(({ kind }) => kind === "picture");
  const frameSeconds = 1 / plan.frameRate;
  return others
    .filter(
      ({ segments }) =>
        segments.length !== first!.segments.length ||
        segments.some(
          ({ durationSeconds }, index) =>
            Math.abs(durationSeconds - first!.segments[index]!.durationSeconds) > frameSeconds,
        ),
    )
    .map(({ name }) => `${name} is cut at other times than ${first!.name}`);
}

function verifyMaster(
  plan: EncodePlan,
  tracks: readonly EncodedTrack[],
  text: string,
  stored: ReadonlyMap<string, StoredObject>,
): string[] {
  const master = readOr(() => parseMultivariantPlaylist(text));
  if (typeof master === "string") return [`${masterName}: ${master}`];
  const problems = verifyMultivariantPlaylist(master, masterName);
  const names = master.variants.map(({ uri }) => uri);
  if (
    !sameSet(
      names,
      plan.renditions.map(({ name }) => playlistName(name)),
    )
  )
    problems.push(`${masterName} doesn't list the plan's renditions`);
  const beside = tracks.filter(({ kind }) => kind !== "picture").map(({ name }) => playlistName(name));
  if (
    !sameSet(
      master.renditions.map(({ uri }) => uri ?? ""),
      beside,
    )
  )
    problems.push(`${masterName} doesn't list the sounds and subtitles that were made`);
  for (const { uri } of [...master.variants, ...master.renditions])
    if (uri !== null && !stored.get(uri)?.sizeBytes) problems.push(`${uri} isn't in storage`);
  for (const variant of master.variants) {
    const track = tracks.find(({ name }) => playlistName(name) === variant.uri);
    if (track && variant.codecs[0] !== track.codec)
      problems.push(`${masterName} says ${variant.codecs[0]} of ${track.name}, which is ${track.codec}`);
  }
  return problems;
}

function require(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new AppError("verification-failed", {
      cause: new Error(problems.slice(0, 20).join("; ")),
      details: { problemCount: problems.length },
    });
}

/** The playlist, or what is wrong with it. */
function readOr<Playlist>(parse: () => Playlist): Playlist | string {
  try {
    return parse();
  } catch (error) {
    if (error instanceof PlaylistError) return error.message;
    throw error;
  }
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && new Set([...a, ...b]).size === a.length;
