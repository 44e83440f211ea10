import type { ObjectStore } from "@reelkeep/aws/object-store";
import { parseMediaPlaylist, parseMultivariantPlaylist } from "@reelkeep/core/hls/parse";
import { resolveReference } from "@reelkeep/core/hls/verify";
import { masterName } from "@reelkeep/core/object-keys";
import type { MediaVersion } from "@reelkeep/db/media-versions";
import { type KnownObjects, readKnownObjects } from "@reelkeep/db/testing/evidence";
import type { FaultStack } from "./stack.ts";

type StoredVersion = KnownObjects["versions"][number];

/** Compares a version's inventory with the bucket, and plays it: every playlist, then every segment, is read whole. */
export async function verifyStoredVersion(store: ObjectStore, version: StoredVersion): Promise<string[]> {
  const stored = new Map<string, { sizeBytes: number; etag: string }>();
  for await (const { key, ...object } of store.list(version.prefix))
    stored.set(key.slice(version.prefix.length), object);
  const problems = version.inventory.flatMap(({ name, sizeBytes, etag }) => {
    const object = stored.get(name);
    if (!object) return [`${version.prefix}${name} is missing`];
    return object.sizeBytes === sizeBytes && object.etag === etag
      ? []
      : [`${version.prefix}${name} isn't what was published`];
  });
  return problems.length > 0 ? problems : await playThrough(store, version);
}

async function playThrough(store: ObjectStore, { prefix, inventory }: StoredVersion): Promise<string[]> {
  const sizes = new Map(inventory.map(({ name, sizeBytes }) => [name, sizeBytes]));
  const problems: string[] = [];
  const master = parseMultivariantPlaylist(await store.readText(prefix + masterName));
  const playlists = new Set([
    ...master.variants.map(({ uri }) => uri),
    ...master.renditions.flatMap(({ uri }) => (uri ? [uri] : [])),
  ]);
  if (playlists.size === 0) problems.push(`${prefix}${masterName} lists nothing`);
  for (const playlist of playlists) {
    const { segments, ended } = parseMediaPlaylist(await store.readText(prefix + playlist));
    if (segments.length === 0 || !ended) problems.push(`${prefix}${playlist} isn't complete`);
    for (const { uri } of segments) {
      const name = resolveReference(playlist, uri);
      const bytes = name === null ? -1 : await countBytes(store, prefix + name);
      if (name === null || bytes !== sizes.get(name))
        problems.push(`${prefix}${playlist} lists ${uri}, of which ${bytes} bytes can be read`);
    }
  }
  return problems;
}

async function countBytes(store: ObjectStore, key: string): Promise<number> {
  const opened = await store.open(key, {});
  if (opened.status !== "open") return -1;
  let bytes = 0;
  for await (const chunk of opened.body) bytes += (chunk as Buffer).length;
  return bytes;
}

/** Objects and begun multipart uploads that nobody answers for: neither an upload, a version, a running attempt nor the ledger. */
export async function findOrphans({ db, store }: FaultStack): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list("")) keys.push(key);
  for (const { key } of await store.listMultipartUploads("")) keys.push(key);
  // Read after the bucket, so that what was just written has its row already.
  const known = await readKnownObjects(db);
  return keys.filter((key) => !isKnown(key, known)).map((key) => `nobody answers for ${key}`);
}

const isKnown = (key: string, known: KnownObjects): boolean =>
  known.sourceKeys.includes(key) ||
  known.versions.some((version) => isInInventory(key, version)) ||
  known.runningPrefixes.some((prefix) => key.startsWith(prefix)) ||
  known.deletions.some(({ kind, target }) => (kind === "prefix" ? key.startsWith(target) : key === target));

const isInInventory = (key: string, { prefix, inventory }: Pick<MediaVersion, "prefix" | "inventory">) =>
  key.startsWith(prefix) && inventory.some(({ name }) => prefix + name === key);
