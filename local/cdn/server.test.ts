import { once } from "node:events";
import { type RequestListener, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withEndpoint } from "../testing/endpoint.ts";
import { startTestStorage, type TestStorage } from "../testing/storage.ts";
import {
  appOrigin,
  ask,
  cookieHeader,
  files,
  fillStorage,
  inAnHour,
  type PrivateMedia,
  secondOrigin,
  startPrivateMedia,
} from "./testing/private-media.ts";

let storage: TestStorage;
let media: PrivateMedia;
let cookie: string;
beforeAll(async () => {
  storage = await startTestStorage();
  media = await startPrivateMedia(storage);
  await fillStorage(media);
  await media.store.putText("uploads/owner1/source.mp4", "the original", { contentType: "video/mp4" });
  await media.store.putText("processed.txt", "beside the prefix", { contentType: "text/plain" });
  cookie = cookieHeader(media.signer.cookiesFor(media.prefix, inAnHour()));
});
afterAll(async () => {
  await media?.close();
  await storage?.stop();
});

const at = (name: string) => `/${media.prefix}${name}`;
const get = (name: string, headers: Record<string, string> = {}, method = "GET") =>
  ask(media.cdn, at(name), { cookie, ...headers }, method);
const segment = "360p/segment_00001.ts";

describe("what the CDN sends", () => {
  it.each([
    ["master.m3u8", "application/vnd.apple.mpegurl", "private, max-age=60"],
    ["360p/playlist.m3u8", "application/vnd.apple.mpegurl", "private, max-age=60"],
    ["360p/segment_00001.ts", "video/mp2t", "private, max-age=31536000, immutable"],
    ["poster-1.jpg", "image/jpeg", "private, max-age=31536000, immutable"],
    ["storyboard.vtt", "text/vtt; charset=utf-8", "private, max-age=31536000, immutable"],
  ])("D1 %s comes whole, as %s, kept for %s", async (name, type, cacheControl) => {
    const answer = await get(name);
    expect(answer).toMatchObject({
      status: 200,
      body: files[name],
      headers: {
        "content-type": type,
        "cache-control": cacheControl,
        "content-length": String(files[name]!.length),
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
      },
    });
  });

  it("D1 HEAD tells the same as GET and sends nothing", async () => {
    const [whole, head] = [await get(segment), await get(segment, {}, "HEAD")];
    expect(head.body).toBe("");
    expect({ ...head.headers, date: "" }).toEqual({ ...whole.headers, date: "" });
  });

  it.each([
    ["bytes=10-19", "bytes 10-19/1000", "0123456789"],
    ["bytes=995-", "bytes 995-999/1000", "56789"],
    ["bytes=-3", "bytes 997-999/1000", "789"],
    ["bytes=998-5000", "bytes 998-999/1000", "89"],
  ])("D1 the range %s is answered with 206", async (range, contentRange, body) => {
    expect(await get(segment, { range })).toMatchObject({
      status: 206,
      body,
      headers: { "content-range": contentRange, "content-length": String(body.length) },
    });
  });

  it("D1 a range beyond the end is refused with the size; one that means nothing is ignored", async () => {
    const refused = await get(segment, { range: "bytes=1000-", origin: appOrigin });
    expect(refused).toMatchObject({
      status: 416,
      headers: { "content-range": "bytes */1000", "access-control-allow-origin": appOrigin },
    });
    expect((await get(segment, { range: "seconds=1-2" })).status).toBe(200);
  });

  it("D1 what a browser has already isn't sent again", async () => {
    const { etag } = (await get(segment)).headers;
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    for (const known of [etag!, `"other", W/${etag}`, "*"])
      expect(await get(segment, { "if-none-match": known })).toMatchObject({
        status: 304,
        body: "",
        headers: { etag, "cache-control": "private, max-age=31536000, immutable" },
      });
    expect((await get(segment, { "if-none-match": '"other"' })).status).toBe(200);
  });

  it.each(["POST", "PUT", "DELETE", "PATCH"])("D1 %s is not for the CDN", async (method) => {
    expect(await get(segment, {}, method)).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, OPTIONS" },
    });
    expect((await get(segment)).status).toBe(200);
  });

  it("D1 what isn't there is 404 and isn't remembered", async () => {
    expect(await get("360p/segment_99999.ts")).toMatchObject({
      status: 404,
      headers: { "cache-control": "no-store" },
    });
  });
});

describe("addresses", () => {
  const everything = () => cookieHeader(media.signer.cookiesFor("", inAnHour()));

  it("D1 only the processed prefix is served, whatever is signed", async () => {
    const wide = everything();
    expect((await ask(media.cdn, at("poster-1.jpg"), { cookie: wide })).status).toBe(200);
    for (const path of [
      "/uploads/owner1/source.mp4",
      "/processed.txt",
      "/",
      "/processed/",
      "/processed",
      "*",
    ])
      expect([path, (await ask(media.cdn, path, { cookie: wide })).status]).toEqual([path, 403]);
  });

  it("D4 no spelling of an address leaves the prefix that was signed", async () => {
    const other = media.otherPrefix.split("/")[2]!;
    const spellings = [
      `../../${other}/attempt-1/poster-1.jpg`,
      `%2e%2e/%2e%2e/${other}/attempt-1/poster-1.jpg`,
      `.%2e/.%2E/${other}/attempt-1/poster-1.jpg`,
      `..%2f..%2F${other}%2Fattempt-1%2Fposter-1.jpg`,
      `..\\..\\${other}\\attempt-1\\poster-1.jpg`,
      `%5c..%5c..%5c${other}/attempt-1/poster-1.jpg`,
      "../../../../uploads/owner1/source.mp4",
      "/poster-1.jpg",
      "./poster-1.jpg",
      "%70oster.jpg",
      "poster-1.jpg/",
      "poster-1.jpg%00",
      "poster-1.jpg%00.ts",
      "poster-1.jpg;v=1",
      "%c0%ae%c0%ae/poster-1.jpg",
    ];
    for (const spelling of spellings) {
      const answer = await get(spelling);
      expect([spelling, answer.status, answer.body]).toEqual([spelling, 403, ""]);
    }
    expect((await ask(media.cdn, `/${at("poster-1.jpg")}`, { cookie: everything() })).status).toBe(403);
    const absolute = `http://localhost:8080${at("poster-1.jpg")}`;
    expect((await ask(media.cdn, absolute, { cookie })).status).toBe(403);
  });
});

describe("pages of other origins (bug reports 27 to 29 and 31)", () => {
  it("D1 each origin gets its own header, in whatever order answers are asked for", async () => {
    const allowed = async (origin?: string) => {
      const { headers } = await get(segment, origin ? { origin } : {});
      expect(headers.vary).toBe("Origin");
      return headers["access-control-allow-origin"];
    };
    expect(await allowed()).toBeUndefined();
    expect(await allowed(appOrigin)).toBe(appOrigin);
    expect(await allowed(secondOrigin)).toBe(secondOrigin);
    expect(await allowed()).toBeUndefined();
    expect(await allowed(appOrigin)).toBe(appOrigin);
  });

  it("D1 the exact origin is named, with credentials and never *", async () => {
    expect((await get("master.m3u8", { origin: appOrigin })).headers).toMatchObject({
      "access-control-allow-origin": appOrigin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": expect.stringContaining("content-range"),
    });
  });

  it.each([
    "https://evil.example",
    "http://localhost:3000.evil.example",
    "http://localhost:30000",
    "https://localhost:3000",
    "null",
    "*",
  ])("D1 a page of %s is told nothing", async (origin) => {
    const answers = [
      await get(segment, { origin }),
      await ask(media.cdn, at(segment), { origin }),
      await ask(media.cdn, at(segment), { origin, "access-control-request-method": "GET" }, "OPTIONS"),
    ];
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
      expect(headers.vary).toBe("Origin");
    }
  });

  it("D3 refusals carry the same headers, so that a player can tell them from a network fault", async () => {
    const refused = [
      await ask(media.cdn, at("master.m3u8"), { origin: appOrigin }),
      await ask(media.cdn, at(segment), { origin: appOrigin }),
      await ask(media.cdn, "/uploads/owner1/source.mp4", { origin: appOrigin }),
      await get("360p/segment_99999.ts", { origin: appOrigin }),
      await get(segment, { origin: appOrigin }, "PUT"),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 404, 405]);
    for (const { headers } of refused)
      expect(headers).toMatchObject({
        "access-control-allow-origin": appOrigin,
        "access-control-allow-credentials": "true",
        vary: "Origin",
        "cache-control": "no-store",
      });
  });

  it("D1 a preflight needs no cookie and allows range", async () => {
    const preflight = { "access-control-request-method": "GET", "access-control-request-headers": "range" };
    const answer = await ask(media.cdn, at(segment), { origin: appOrigin, ...preflight }, "OPTIONS");
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": appOrigin,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": expect.stringContaining("GET"),
      "access-control-allow-headers": expect.stringContaining("range"),
    });
  });
});

describe("what storage sees", () => {
  /** A CDN before an endpoint that answers as a test says, in place of our S3. */
  const behind = <T>(answer: RequestListener, work: (started: PrivateMedia) => Promise<T>): Promise<T> =>
    withEndpoint(answer, async (endpoint) => {
      const started = await startPrivateMedia({ ...storage, endpoint });
      try {
        return await work(started);
      } finally {
        await started.close();
      }
    });

  it("D1 neither cookies nor the query nor the viewer's origin reach storage", async () => {
    const seen: string[] = [];
    await behind(
      (message, response) => {
        seen.push(`${message.url}\n${message.rawHeaders.join("\n")}`);
        response.writeHead(200, { etag: '"1"', "content-length": 2 }).end("ok");
      },
      async ({ cdn, signer, prefix }) => {
        const query = signer.signedQuery(`${prefix}*`, inAnHour());
        const headers = { cookie: "session=of-the-app", origin: appOrigin, authorization: "Bearer token" };
        expect((await ask(cdn, `/${prefix}poster-1.jpg?${query}`, headers)).status).toBe(200);
        const set = cookieHeader(signer.cookiesFor(prefix, inAnHour()));
        expect((await ask(cdn, `/${prefix}poster-1.jpg`, { ...headers, cookie: set })).status).toBe(200);
      },
    );
    expect(seen).toHaveLength(2);
    for (const text of seen)
      expect(text).not.toMatch(/cookie|of-the-app|CloudFront|Key-Pair-Id|secret=|localhost:3000|Bearer/i);
  });

  it("D4 a viewer who leaves ends the read from storage", async () => {
    let ended: (finished: boolean) => void;
    const storageEnded = new Promise<boolean>((resolve) => {
      ended = resolve;
    });
    await behind(
      (_, response) => {
        response.writeHead(200, { etag: '"1"', "content-length": 1_000_000_000 });
        response.once("close", () => ended(response.writableFinished));
        response.write("the beginning");
      },
      async ({ cdn, signer, prefix }) => {
        const headers = { cookie: cookieHeader(signer.cookiesFor(prefix, inAnHour())) };
        const path = `/${prefix}${segment}`;
        const viewer = request({ host: "127.0.0.1", port: cdn.port, path, headers, agent: false }).end();
        const [answer] = await once(viewer, "response");
        await once(answer, "data");
        viewer.destroy();
        expect(await storageEnded).toBe(false);
      },
    );
  });

  it("D4 a storage that breaks off is no whole answer, and one that is broken is 502", async () => {
    await behind(
      (message, response) => {
        if (message.url?.includes("poster")) return response.writeHead(403).end();
        response.writeHead(200, { etag: '"1"', "content-length": 1000 }).write("the beginning");
        setImmediate(() => response.destroy());
      },
      async ({ cdn, signer, prefix }) => {
        const headers = { cookie: cookieHeader(signer.cookiesFor(prefix, inAnHour())), origin: appOrigin };
        expect(await ask(cdn, `/${prefix}poster-1.jpg`, headers)).toMatchObject({
          status: 502,
          headers: { "access-control-allow-origin": appOrigin, "cache-control": "no-store" },
        });
        await expect(ask(cdn, `/${prefix}${segment}`, headers)).rejects.toThrow();
      },
    );
  });
});
