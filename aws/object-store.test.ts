import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { AppError } from "@reelkeep/core/errors";
import { withEndpoint } from "@reelkeep/local/testing/endpoint";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createObjectStore, type ObjectStore } from "./object-store.ts";

let storage: TestStorage;
let store: ObjectStore;
let folder: string;
beforeAll(async () => {
  storage = await startTestStorage();
  store = createObjectStore(storage);
  folder = await mkdtemp(path.join(tmpdir(), "reelkeep-objects-"));
});
afterAll(async () => {
  await storage?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const type = { contentType: "text/plain" };
const newPrefix = () => `processed/u/${randomUUID()}/`;
const fileAt = (name: string = randomUUID()) => path.join(folder, name);
const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** The AppError that `work` fails with, without its cause. */
async function failureOf(work: Promise<unknown>): Promise<Pick<AppError, "code" | "retryable">> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw new Error(`no failure of ours: ${error}`);
  return { code: error.code, retryable: error.retryable };
}
const changed = { code: "source-changed", retryable: false };
const gone = { code: "source-gone", retryable: false };
const unavailable = { code: "storage-unavailable", retryable: true };

/** The adapter on an endpoint that answers as a test says, in place of our S3. */
const behind = <T>(answer: RequestListener, work: (ailing: ObjectStore) => Promise<T>): Promise<T> =>
  withEndpoint(answer, (endpoint) => work(createObjectStore({ ...storage, endpoint })));

describe("objects", () => {
  it("M5 what is put from a file comes back as it was, in whole and in part", async () => {
    const key = `${newPrefix()}segment.ts`;
    const bytes = randomBytes(300_000);
    const [sent, received] = [fileAt(), fileAt()];
    await writeFile(sent, bytes);
    const put = await store.putFile(key, sent, { contentType: "video/mp2t", cacheControl: "max-age=60" });
    const etag = createHash("md5").update(bytes).digest("hex");
    expect(put).toEqual({ etag, sizeBytes: bytes.length });
    expect(await store.head(key)).toEqual({
      etag,
      sizeBytes: bytes.length,
      contentType: "video/mp2t",
      checksumSha256: null,
    });
    await store.download(key, received, { etag });
    expect((await readFile(received)).equals(bytes)).toBe(true);
    expect(Buffer.from(await store.readRange(key, 100, 200, etag))).toEqual(bytes.subarray(100, 200));
  });

  it("M5 a text keeps its characters, and an empty one is an object too", async () => {
    const prefix = newPrefix();
    const put = await store.putText(`${prefix}a`, "Größe ✓", type);
    expect(put.sizeBytes).toBe(11);
    expect(await store.readText(`${prefix}a`)).toBe("Größe ✓");
    expect((await store.putText(`${prefix}b`, "", type)).sizeBytes).toBe(0);
    expect(await store.readText(`${prefix}b`)).toBe("");
  });

  it("U5 reads are of exactly the object that was checked: source-changed", async () => {
    const key = `${newPrefix()}a`;
    const { etag } = await store.putText(key, "first", type);
    await store.putText(key, "other", type);
    const file = fileAt();
    expect(await failureOf(store.download(key, file, { etag }))).toEqual(changed);
    await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await failureOf(store.readRange(key, 0, 2, etag))).toEqual(changed);
  });

  it("U5 a missing object is null to head and source-gone to readers", async () => {
    const key = `${newPrefix()}a`;
    expect(await store.head(key)).toBeNull();
    expect(await failureOf(store.download(key, fileAt(), { etag: "1" }))).toEqual(gone);
    expect(await failureOf(store.readRange(key, 0, 2, "1"))).toEqual(gone);
    expect(await failureOf(store.readText(key))).toEqual(gone);
    expect(await failureOf(store.open(key, {}))).toEqual(gone);
  });

  it("D4 an opened object answers Range and If-None-Match as HTTP has them", async () => {
    const key = `${newPrefix()}a`;
    const { etag } = await store.putText(key, "0123456789", type);
    const open = async (asked: Parameters<ObjectStore["open"]>[1]) => {
      const opened = await store.open(key, asked);
      return opened.status === "open" ? { ...opened, body: await text(opened.body) } : opened;
    };
    const whole = { status: "open", etag, lengthBytes: 10, contentRange: null, body: "0123456789" };
    expect(await open({})).toEqual(whole);
    expect(await open({ ifNoneMatch: '"other"' })).toEqual(whole);
    expect(await open({ range: "bytes=2-4" })).toEqual({
      ...whole,
      lengthBytes: 3,
      contentRange: "bytes 2-4/10",
      body: "234",
    });
    expect(await open({ ifNoneMatch: `"other", "${etag}"` })).toEqual({ status: "not-modified", etag });
    expect(await open({ range: "bytes=10-" })).toEqual({
      status: "range-refused",
      contentRange: "bytes */10",
    });
  });
});

describe("an ailing storage", () => {
  it("J5 one that nobody serves is storage-unavailable, worth another try", async () => {
    let dead = store;
    await behind(
      () => {},
      async (ailing) => {
        dead = ailing;
      },
    );
    expect(await failureOf(dead.head("a"))).toEqual(unavailable);
    expect(await failureOf(dead.putText("a", "b", type))).toEqual(unavailable);
    expect(await failureOf(collect(dead.list("a")))).toEqual(unavailable);
  });

  it("J5 a passing fault is tried again here, one that stays is storage-unavailable", async () => {
    let asked = 0;
    const healing: RequestListener = (_, response) => {
      asked++;
      response.writeHead(asked < 3 ? 503 : 200, { etag: '"1"', "content-length": 0 }).end();
    };
    await behind(healing, async (ailing) => expect(await ailing.head("a")).toMatchObject({ etag: "1" }));
    expect(asked).toBe(3);
    await behind(
      (_, response) => response.writeHead(500).end(),
      async (ailing) => expect(await failureOf(ailing.readText("a"))).toEqual(unavailable),
    );
  });

  it("J5 a download that breaks off is a failure, not a shorter file", async () => {
    await behind(
      (_, response) => {
        response.writeHead(200, { etag: '"1"', "content-length": 1000 }).write("the beginning");
        setImmediate(() => response.destroy());
      },
      async (ailing) => {
        expect(await failureOf(ailing.download("a", fileAt(), { etag: "1" }))).toEqual(unavailable);
        expect(await failureOf(ailing.readRange("a", 0, 1000, "1"))).toEqual(unavailable);
      },
    );
  });

  it("J5 wrong credentials and a missing bucket are no missing object", async () => {
    const credentials = { ...storage.credentials, secretAccessKey: "wrong" };
    const stranger = createObjectStore({ ...storage, credentials });
    expect(await failureOf(stranger.head("a"))).toEqual(unavailable);
    const elsewhere = createObjectStore({ ...storage, bucket: "no-such-bucket" });
    expect(await failureOf(elsewhere.readText("a"))).toEqual(unavailable);
  });
});

describe("stopping", () => {
  it("J3 a signal ends a download in the middle, with the reader's own error", async () => {
    const stop = new AbortController();
    let left: () => void;
    const storageLeft = new Promise<void>((resolve) => {
      left = resolve;
    });
    await behind(
      (_, response) => {
        response.writeHead(200, { etag: '"1"', "content-length": 1_000_000 }).write("the beginning");
        response.once("close", () => left());
        setImmediate(() => stop.abort());
      },
      async (slow) => {
        const work = slow.download("a", fileAt(), { etag: "1", signal: stop.signal });
        await expect(work).rejects.toMatchObject({ name: "AbortError" });
        await storageLeft;
      },
    );
  });

  it("J3 a signal that has come before ends every work at once", async () => {
    const prefix = newPrefix();
    await store.putText(`${prefix}a`, "a", type);
    const signal = AbortSignal.abort();
    const file = fileAt();
    await writeFile(file, "b");
    const works = [
      () => store.putText(`${prefix}b`, "b", { ...type, signal }),
      () => store.putFile(`${prefix}b`, file, { ...type, signal }),
      () => store.readText(`${prefix}a`, signal),
      () => store.open(`${prefix}a`, { signal }),
      () => collect(store.list(prefix, signal)),
    ];
    for (const work of works) await expect(work()).rejects.toMatchObject({ name: "AbortError" });
    expect(await store.head(`${prefix}b`)).toBeNull();
  });
});

describe("many objects", () => {
  it("P7 a listing goes on past its first page, in order, and removing takes more than one request", async () => {
    const prefix = newPrefix();
    const names = Array.from({ length: 1003 }, (_, i) => `${prefix}${String(i).padStart(5, "0")}`);
    const waiting = [...names];
    const put = async () => {
      for (let key = waiting.pop(); key; key = waiting.pop()) await store.putText(key, "x", type);
    };
    await Promise.all(Array.from({ length: 16 }, put));
    const beside = `${prefix.slice(0, -1)}-beside`;
    await store.putText(beside, "x", type);
    const listed = await collect(store.list(prefix));
    expect(listed.map(({ key }) => key)).toEqual(names);
    expect(listed[0]).toEqual({
      key: names[0],
      sizeBytes: 1,
      etag: createHash("md5").update("x").digest("hex"),
    });
    await store.removePrefix(prefix);
    expect(await collect(store.list(prefix))).toEqual([]);
    expect(await store.head(beside)).not.toBeNull();
  });

  it("P7 removing what isn't there is no failure, nor is removing nothing", async () => {
    const prefix = newPrefix();
    await store.putText(`${prefix}ä & <b>+ %2F`, "a", type);
    await store.remove([`${prefix}missing`, `${prefix}ä & <b>+ %2F`]);
    await store.remove([]);
    await store.removePrefix(prefix);
    expect(await collect(store.list(prefix))).toEqual([]);
  });
});

describe("uploads in parts", () => {
  it("U7 all unfinished ones of a prefix are found, also of one key, and can be aborted twice", async () => {
    const prefix = newPrefix();
    const begin = async (name: string) => {
      const key = prefix + name;
      return { key, uploadId: await store.createMultipartUpload(key, type) };
    };
    const uploads = [await begin("a"), await begin("a"), await begin("b")];
    await store.createMultipartUpload(`${newPrefix()}a`, type);
    const found = await store.listMultipartUploads(prefix);
    expect(new Set(found.map(({ uploadId }) => uploadId))).toEqual(
      new Set(uploads.map(({ uploadId }) => uploadId)),
    );
    expect(found.map(({ key }) => key)).toEqual(uploads.map(({ key }) => key));
    for (const { key, uploadId } of [...uploads, ...uploads]) await store.abortMultipartUpload(key, uploadId);
    expect(await store.listMultipartUploads(prefix)).toEqual([]);
  });
});
