import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestStorage, type TestStorage } from "../local/s3/testing/test-storage.ts";
import { createObjectStore, type ObjectStore } from "./object-store.ts";

let storage: TestStorage;
let store: ObjectStore;
let folder: string;
beforeAll(async () => {
  storage = await startTestStorage();
  store = createObjectStore(storage.config);
  folder = await mkdtemp(path.join(tmpdir(), "reelkeep-store-"));
});
afterAll(async () => {
  await storage.stop();
  await rm(folder, { recursive: true, force: true });
});

const textType = { contentType: "text/plain" };
async function listKeys(prefix: string) {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

describe("the bucket", () => {
  it("streams a file there and back, with its type", async () => {
    const file = path.join(folder, "sent");
    const bytes = randomBytes(3_000_000);
    await writeFile(file, bytes);
    const sent = await store.putFile("dir/file", file, {
      contentType: "video/mp2t",
      cacheControl: "max-age=60",
    });
    expect(await store.head("dir/file")).toEqual({
      sizeBytes: bytes.length,
      etag: sent.etag,
      contentType: "video/mp2t",
      checksumSha256: null,
    });
    const received = path.join(folder, "received");
    await store.download("dir/file", received, { etag: sent.etag });
    expect((await readFile(received)).equals(bytes)).toBe(true);
    expect(Buffer.from(await store.readRange("dir/file", 10, 20, sent.etag))).toEqual(bytes.subarray(10, 20));
  });

  it("U5 reads only the object that was pinned: another one is source-changed, none is source-gone", async () => {
    const { etag } = await store.putText("pinned", "one", textType);
    await store.putText("pinned", "two", textType);
    const file = path.join(folder, "never");
    await expect(store.readRange("pinned", 0, 1, etag)).rejects.toMatchObject({ code: "source-changed" });
    await expect(store.download("pinned", file, { etag })).rejects.toMatchObject({ code: "source-changed" });
    await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
    await store.remove(["pinned"]);
    await expect(store.readRange("pinned", 0, 1, etag)).rejects.toMatchObject({ code: "source-gone" });
    expect(await store.head("pinned")).toBeNull();
  });

  it("P7 lists and removes everything below a prefix, however much, and nothing beside it", async () => {
    const keys = Array.from({ length: 1203 }, (_, i) => `many/${String(i).padStart(4, "0")}`);
    for (let i = 0; i < keys.length; i += 50)
      await Promise.all(keys.slice(i, i + 50).map((key) => store.putText(key, "x", textType)));
    await store.putText("many", "beside", textType);
    await store.putText("many.txt", "beside", textType);
    expect(await listKeys("many/")).toEqual(keys);
    await store.removePrefix("many/");
    expect(await listKeys("many")).toEqual(["many", "many.txt"]);
    await store.removePrefix("many/");
  });

  it("U7 finds and aborts the multipart uploads of a key; an ended one is no failure", async () => {
    const uploadId = await store.createMultipartUpload("uploads/a", { contentType: "video/mp4" });
    await store.createMultipartUpload("uploads/ab", { contentType: "video/mp4" });
    expect(await store.listMultipartUploads("uploads/a")).toContainEqual({ key: "uploads/a", uploadId });
    await store.abortMultipartUpload("uploads/a", uploadId);
    await store.abortMultipartUpload("uploads/a", uploadId);
    expect((await store.listMultipartUploads("uploads/")).map(({ key }) => key)).toEqual(["uploads/ab"]);
  });

  it("D4 opens an object as whoever asks over HTTP wants it", async () => {
    const { etag } = await store.putText("opened", "0123456789", textType);
    const part = await store.open("opened", { range: "bytes=2-4" });
    if (part.status !== "open") throw new Error(part.status);
    expect(part).toMatchObject({ etag, lengthBytes: 3, contentRange: "bytes 2-4/10" });
    expect(Buffer.concat(await part.body.toArray()).toString()).toBe("234");
    expect(await store.open("opened", { ifNoneMatch: `"${etag}"` })).toMatchObject({
      status: "not-modified",
    });
    expect(await store.open("opened", { range: "bytes=10-" })).toMatchObject({ status: "range-refused" });
    await expect(store.open("not there", {})).rejects.toMatchObject({ code: "source-gone" });
  });

  it("J3 stops at its signal in the middle of a download", async () => {
    const file = path.join(folder, "large");
    await writeFile(file, Buffer.alloc(64 * 1024 * 1024));
    const { etag } = await store.putFile("large", file, { contentType: "video/mp4" });
    const cancel = new AbortController();
    const target = path.join(folder, "cut");
    const work = store.download("large", target, { etag, signal: cancel.signal });
    await expect
      .poll(
        () =>
          stat(target).then(
            ({ size }) => size,
            () => 0,
          ),
        { interval: 1 },
      )
      .toBeGreaterThan(0);
    cancel.abort();
    await expect(work).rejects.toMatchObject({ name: "AbortError" });
  });

  it("storage that doesn't answer is worth another try", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const broken = createObjectStore({ ...storage.config, endpoint: `http://127.0.0.1:${port}` });
    await expect(broken.head("a")).rejects.toMatchObject({ code: "storage-unavailable", retryable: true });
    server.close();
  });
});
