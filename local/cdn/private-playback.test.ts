import { createPosterSigner } from "@reelkeep/services/grant-posters";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestStorage, type TestStorage } from "../testing/storage.ts";
import {
  ask,
  cookieHeader,
  files,
  fillStorage,
  inAnHour,
  type PrivateMedia,
  startPrivateMedia,
} from "./testing/private-media.ts";

let storage: TestStorage;
let media: PrivateMedia;
beforeAll(async () => {
  storage = await startTestStorage();
  media = await startPrivateMedia(storage);
  await fillStorage(media);
});
afterAll(async () => {
  await media?.close();
  await storage?.stop();
});

const names = Object.keys(files);
const cookiesUntil = (expiresAt: Date, prefix = media.prefix) =>
  cookieHeader(media.signer.cookiesFor(prefix, expiresAt));
const statuses = (prefix: string, headers: Record<string, string>) =>
  Promise.all(names.map(async (name) => (await ask(media.cdn, `/${prefix}${name}`, headers)).status));
const all = (status: number) => names.map(() => status);

/** Follows a playlist's relative addresses as a player does, and answers every path that it asks for. */
async function play(headers: Record<string, string>, path: string): Promise<[string, number][]> {
  const { status, body } = await ask(media.cdn, path, headers);
  const asked: [string, number][] = [[path, status]];
  if (status !== 200 || !path.endsWith(".m3u8")) return asked;
  for (const line of body.split("\n").filter((text) => text && !text.startsWith("#")))
    asked.push(...(await play(headers, new URL(line, `http://localhost${path}`).pathname)));
  return asked;
}

describe("private playback (bug reports 30 to 33)", () => {
  it("D2 with nothing but cookies, a version plays from its master to its segments", async () => {
    const path = `/${media.prefix}master.m3u8`;
    expect(await play({ cookie: cookiesUntil(inAnHour()) }, path)).toEqual([
      [path, 200],
      [`/${media.prefix}360p/playlist.m3u8`, 200],
      [`/${media.prefix}360p/segment_00001.ts`, 200],
    ]);
  });

  it("D4 without a cookie each single file is refused, not the master alone", async () => {
    expect(await statuses(media.prefix, {})).toEqual(all(403));
    expect(await statuses(media.prefix, { cookie: "session=1" })).toEqual(all(403));
  });

  it("D4 another version's cookies open nothing of this one", async () => {
    const cookie = cookiesUntil(inAnHour(), media.otherPrefix);
    expect(await statuses(media.otherPrefix, { cookie })).toEqual(all(200));
    expect(await statuses(media.prefix, { cookie })).toEqual(all(403));
  });

  it("D2 with the cookies of two versions, both play", async () => {
    const cookie = `${cookiesUntil(inAnHour(), media.otherPrefix)}; ${cookiesUntil(inAnHour())}`;
    expect(await statuses(media.prefix, { cookie })).toEqual(all(200));
    expect(await statuses(media.otherPrefix, { cookie })).toEqual(all(200));
  });

  it("D4 expired cookies open nothing, also not what a saved playlist names", async () => {
    const cookie = cookiesUntil(new Date(Date.now() - 1000));
    expect(await statuses(media.prefix, { cookie })).toEqual(all(403));
  });

  it("D4 an expired signed address opens nothing", async () => {
    const query = media.signer.signedQuery(`${media.prefix}*`, new Date(Date.now() - 1000));
    const answer = await ask(media.cdn, `/${media.prefix}${names[2]}?${query}`);
    expect(answer.status).toBe(403);
  });

  it("D2 renewed cookies go on where the old ones ended; a viewer who gets none stops then", async () => {
    const shortly = new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000);
    const first = cookiesUntil(shortly);
    expect(await statuses(media.prefix, { cookie: first })).toEqual(all(200));
    await new Promise((resolve) => setTimeout(resolve, shortly.getTime() - Date.now() + 5));
    expect(await statuses(media.prefix, { cookie: first })).toEqual(all(403));
    expect(await statuses(media.prefix, { cookie: cookiesUntil(inAnHour()) })).toEqual(all(200));
  });

  /** The addresses of a page of posters, as the services sign them for their owner. */
  const posterQuery = (prefix = media.prefix) =>
    createPosterSigner(media.signer, { userId: "owner1", role: "creator" })("owner1", {
      prefix,
      posterName: "poster-1.jpg",
    })!.split("?")[1]!;

  it("D2 a grant for an owner's posters opens each poster and nothing that plays", async () => {
    const query = posterQuery();
    expect(posterQuery(media.otherPrefix)).toBe(query);
    for (const prefix of [media.prefix, media.otherPrefix])
      for (const name of names) {
        const { status } = await ask(media.cdn, `/${prefix}${name}?${query}`);
        expect([name, status]).toEqual([name, name === "poster-1.jpg" ? 200 : 403]);
      }
  });

  it("D4 a grant for posters opens no film by a query that ends in a poster's name", async () => {
    const query = posterQuery();
    const wide = media.signer.signedQuery("processed/owner1/*/poster-1.jpg", inAnHour());
    for (const name of ["master.m3u8", "360p/playlist.m3u8", "360p/segment_00001.ts"])
      for (const own of ["/poster-1.jpg", "x=/poster-1.jpg", "/attempt-1/poster-1.jpg"])
        for (const signature of [query, wide]) {
          const { status } = await ask(media.cdn, `/${media.prefix}${name}?${own}&${signature}`);
          expect([name, own, status]).toEqual([name, own, 403]);
        }
  });

  it("D4 an address with a query of its own is refused, whatever opens it", async () => {
    const cookie = cookiesUntil(inAnHour());
    const query = media.signer.signedQuery("processed/*", inAnHour());
    const path = `/${media.prefix}poster-1.jpg`;
    expect((await ask(media.cdn, `${path}?${query}`)).status).toBe(200);
    expect((await ask(media.cdn, `${path}?size=2&${query}`)).status).toBe(403);
    expect((await ask(media.cdn, `${path}?size=2`, { cookie })).status).toBe(403);
  });
});
