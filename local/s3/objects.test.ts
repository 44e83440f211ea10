import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import {
  type ChecksumAlgorithm,
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucket, clientFor, codeOf, startTestStorage, type TestStorage } from "./testing/test-storage.ts";

let storage: TestStorage;
beforeAll(async () => {
  storage = await startTestStorage();
});
afterAll(() => storage.stop());

const at = (Key: string) => ({ Bucket: bucket, Key });
const put = (key: string, body: string | Buffer, more: object = {}) =>
  storage.client.send(new PutObjectCommand({ ...at(key), Body: body, ...more }));
const get = async (key: string, more: object = {}) => {
  const answer = await storage.client.send(new GetObjectCommand({ ...at(key), ...more }));
  return Buffer.from(await answer.Body!.transformToByteArray());
};

describe("objects", () => {
  it("keeps bytes, type and metadata as they were sent", async () => {
    const body = randomBytes(300_000);
    await put("a/b.mp4", body, {
      ContentType: "video/mp4",
      CacheControl: "max-age=60",
      Metadata: { owner: "u1" },
    });
    expect(await get("a/b.mp4")).toEqual(body);
    const head = await storage.client.send(new HeadObjectCommand(at("a/b.mp4")));
    expect(head).toMatchObject({
      ContentLength: body.length,
      ContentType: "video/mp4",
      CacheControl: "max-age=60",
      ETag: `"${createHash("md5").update(body).digest("hex")}"`,
      Metadata: { owner: "u1" },
    });
  });

  it("keeps an empty object", async () => {
    await put("empty", "", { ContentLength: 0 });
    expect(await get("empty")).toHaveLength(0);
  });

  it.each<ChecksumAlgorithm>(["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])(
    "U2 compares a %s that comes before or after the body",
    async (algorithm) => {
      const body = randomBytes(200_001);
      const key = `checksum/${algorithm}`;
      const inHeader = await put(key, body, { ChecksumAlgorithm: algorithm });
      const inTrailer = await storage.client.send(
        new PutObjectCommand({
          ...at(key),
          Body: Readable.from([body.subarray(0, 77_777), body.subarray(77_777)]),
          ContentLength: body.length,
          ChecksumAlgorithm: algorithm,
        }),
      );
      const name = `Checksum${algorithm}` as const;
      expect(inTrailer[name]).toBe(inHeader[name]);
      expect(await get(key)).toEqual(body);
      const wrong = Buffer.alloc(Buffer.from(inHeader[name]!, "base64").length).toString("base64");
      expect(await codeOf(put(key, body, { [name]: wrong }))).toBe("BadDigest");
    },
  );

  it("U2 a body that differs from Content-MD5 or from what was signed leaves nothing", async () => {
    const files = await storage.countFiles();
    const md5 = createHash("md5").update("another").digest("base64");
    expect(await codeOf(put("bad", "this", { ContentMD5: md5 }))).toBe("BadDigest");
    const tampering = clientFor(storage.s3.url);
    tampering.middlewareStack.add(
      (next) => (args) => {
        (args.request as { body: unknown }).body = "that";
        return next(args);
      },
      { step: "finalizeRequest", priority: "low" },
    );
    expect(
      await codeOf(
        tampering.send(new PutObjectCommand({ ...at("bad"), Body: "this", ContentMD5: undefined })),
      ),
    ).toMatch(/BadDigest|XAmzContentSHA256Mismatch/);
    expect(await codeOf(storage.client.send(new HeadObjectCommand(at("bad"))))).toBe("NotFound");
    expect(await storage.countFiles()).toBe(files);
  });

  it("answers first, middle, open and last ranges, and refuses ranges behind the end", async () => {
    const body = randomBytes(1000);
    await put("ranges", body);
    expect(await get("ranges", { Range: "bytes=0-0" })).toEqual(body.subarray(0, 1));
    expect(await get("ranges", { Range: "bytes=10-19" })).toEqual(body.subarray(10, 20));
    expect(await get("ranges", { Range: "bytes=990-" })).toEqual(body.subarray(990));
    expect(await get("ranges", { Range: "bytes=-10" })).toEqual(body.subarray(990));
    expect(await get("ranges", { Range: "bytes=0-99999" })).toEqual(body);
    expect(await codeOf(get("ranges", { Range: "bytes=1000-" }))).toBe("InvalidRange");
  });

  it("U5 If-Match reads only the object that was pinned", async () => {
    const first = await put("pinned", "one");
    expect((await get("pinned", { IfMatch: first.ETag })).toString()).toBe("one");
    await put("pinned", "two");
    expect(await codeOf(get("pinned", { IfMatch: first.ETag }))).toBe("PreconditionFailed");
    const head = storage.client.send(new HeadObjectCommand({ ...at("pinned"), IfMatch: first.ETag }));
    await expect(head).rejects.toMatchObject({ $metadata: { httpStatusCode: 412 } });
  });

  it("U2 of many writers that want to be the first, exactly one is", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => put("race", `writer ${index}`, { IfNoneMatch: "*" })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const winner = results.findIndex(({ status }) => status === "fulfilled");
    expect((await get("race")).toString()).toBe(`writer ${winner}`);
  });

  it("If-Match replaces only the object that was seen", async () => {
    const { ETag } = await put("seen", "one");
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) => put("seen", `next ${index}`, { IfMatch: ETag })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await codeOf(put("not there", "x", { IfMatch: ETag }))).toBe("NoSuchKey");
  });

  it("M8 a copy takes no room and outlives its source", async () => {
    const files = await storage.countFiles();
    await put("source", "bytes", { ContentType: "video/mp2t" });
    await storage.client.send(new CopyObjectCommand({ ...at("copy"), CopySource: `${bucket}/source` }));
    expect(await storage.countFiles()).toBe(files + 1);
    await storage.client.send(new DeleteObjectCommand(at("source")));
    expect((await get("copy")).toString()).toBe("bytes");
    const head = await storage.client.send(new HeadObjectCommand(at("copy")));
    expect(head.ContentType).toBe("video/mp2t");
    await storage.client.send(new DeleteObjectCommand(at("copy")));
    expect(await storage.countFiles()).toBe(files);
  });

  it("deletes many at once, and missing ones without complaint", async () => {
    await put("many/1", "x");
    const keys = ["many/1", "many/2", "a & b <c> \"d\" 'e' \r"];
    const answer = await storage.client.send(
      new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }),
    );
    expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(keys);
    expect(answer.Errors ?? []).toEqual([]);
  });

  it("keeps tags", async () => {
    await put("tagged", "x");
    const TagSet = [{ Key: "kind", Value: "a & b" }];
    await storage.client.send(new PutObjectTaggingCommand({ ...at("tagged"), Tagging: { TagSet } }));
    const answer = await storage.client.send(new GetObjectTaggingCommand(at("tagged")));
    expect(answer.TagSet).toEqual(TagSet);
  });

  it("an action that isn't there is refused and never taken for another one", async () => {
    await put("acl", "the object");
    expect(
      await codeOf(storage.client.send(new PutObjectAclCommand({ ...at("acl"), ACL: "public-read" }))),
    ).toBe("NotImplemented");
    expect((await get("acl")).toString()).toBe("the object");
  });
});
