/** A long film whose worker dies: what is whole in storage isn't made again. */
import { listAttempts } from "@reelkeep/db/job-attempts";
import { findVersionOfAttempt } from "@reelkeep/db/media-versions";
import { bundle, bundlePath } from "@reelkeep/local/bundle";
import { createTestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage } from "@reelkeep/local/testing/storage";
import { parse } from "hls-parser";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ended, gone, openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
/** Twenty-five minutes: windows of ten, ten and five. */
let film: Uint8Array;
const seconds = 1500;

beforeAll(async () => {
  await bundle();
  shop = await openWorkshop({
    database: await createTestDatabase(),
    storage: await startTestStorage(),
    script: bundlePath("worker"),
    policy: { leaseSeconds: 4, heartbeatSeconds: 4 / 3 },
  });
  film = shop.makeFilm("film.mp4", ["-i", `testsrc2=s=256x144:r=10:d=${seconds}`]);
});
afterEach(() => shop.endWorkers());
afterAll(() => shop.close());

const attemptsOf = async (actionKey: string) =>
  (await listAttempts(shop.context.db, actionKey)).toSorted((a, b) => a.attemptNumber - b.attemptNumber);

/** Waits for an object below the newest attempt's prefix. */
async function until(actionKey: string, name: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const key = `${(await attemptsOf(actionKey)).at(-1)?.outputPrefix}${name}`;
      expect(await shop.context.store.head(key)).not.toBeNull();
      return key;
    },
    { timeout: 60_000, interval: 50 },
  );
}

describe("a long film", () => {
  it("M7 M8 goes on after a kill from its last whole window, below the new attempt's own prefix", async () => {
    const actionKey = await shop.admit(film);
    const worker = await shop.launch();
    await until(actionKey, "checkpoints/window-001.json");
    worker.process.kill("SIGKILL");
    await gone(worker);
    await shop.recover();

    const second = await shop.launch();
    expect(await shop.until(actionKey, ended)).toMatchObject({
      state: "processing-completed",
      attemptCount: 2,
    });
    expect(second.output).toMatch(/"passes":\["window-001".*went on from an earlier attempt/);
    const [before, after] = await attemptsOf(actionKey);
    const version = await findVersionOfAttempt(shop.context.db, after!.id);
    expect(version!.durationSeconds).toBeCloseTo(seconds, 0);
    expect(version!.prefix).toBe(after!.outputPrefix);
    const inventory = new Map(version!.inventory.map((item) => [item.name, item.etag]));
    for (let number = 1; number <= 100; number++) {
      const name = `240p/segment_${String(number).padStart(5, "0")}.ts`;
      const original = await shop.context.store.head(before!.outputPrefix + name);
      expect(inventory.get(name)).toBe(original!.etag);
    }
    const playlist = parse(await shop.context.store.readText(`${version!.prefix}240p/playlist.m3u8`));
    if (playlist.isMasterPlaylist) throw new Error("not a media playlist");
    expect(playlist.segments).toHaveLength(250);
  });

  it("M7 is made anew where what was left behind is gone or changed", async () => {
    const actionKey = await shop.admit(film);
    const worker = await shop.launch();
    await until(actionKey, "checkpoints/window-001.json");
    worker.process.kill("SIGKILL");
    await gone(worker);
    const { outputPrefix } = (await attemptsOf(actionKey))[0]!;
    await shop.context.store.putText(`${outputPrefix}240p/segment_00042.ts`, "damaged", {
      contentType: "video/mp2t",
    });
    await shop.recover();
    const second = await shop.launch();
    expect(await shop.until(actionKey, ended)).toMatchObject({ state: "processing-completed" });
    expect(second.output).not.toContain("went on from an earlier attempt");
  });

  it("M10 its first part can be played while the rest is made, by playlists that grow", async () => {
    const actionKey = await shop.admit(film);
    const worker = await shop.launch();
    const { store } = shop.context;
    await shop.until(actionKey, ({ progressRenditions }) => (progressRenditions[0]?.fraction ?? 0) > 0);
    const { outputPrefix } = (await attemptsOf(actionKey))[0]!;
    const master = parse(await store.readText(`${outputPrefix}preview.m3u8`));
    if (!master.isMasterPlaylist) throw new Error("not a multivariant playlist");
    expect(master.variants.map(({ uri }) => uri)).toEqual(["240p/playlist.m3u8"]);
    const text = await store.readText(`${outputPrefix}240p/playlist.m3u8`);
    const playlist = parse(text);
    if (playlist.isMasterPlaylist) throw new Error("not a media playlist");
    expect([playlist.playlistType, playlist.endlist]).toEqual(["EVENT", false]);
    expect(playlist.segments.length).toBeGreaterThan(0);
    for (const { uri } of playlist.segments)
      expect(await store.head(`${outputPrefix}240p/${uri}`)).not.toBeNull();
    expect(await store.head(`${outputPrefix}master.m3u8`)).toBeNull();
    await shop.until(actionKey, ended);
    await gone(worker);
    expect(await store.readText(`${outputPrefix}240p/playlist.m3u8`)).toContain("#EXT-X-ENDLIST");
  });
});
