import { createHash, randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucket, codeOf, startTestStorage, type TestStorage } from "./testing/test-storage.ts";

let storage: TestStorage;
beforeAll(async () => {
  storage = await startTestStorage();
});
afterAll(() => storage.stop());

const partBytes = 5 * 1024 * 1024;
const at = (Key: string) => ({ Bucket: bucket, Key });
const md5 = (...data: Buffer[]) => createHash("md5").update(Buffer.concat(data)).digest();

async function begin(key: string, more: object = {}) {
  const { UploadId } = await storage.client.send(new CreateMultipartUploadCommand({ ...at(key), ...more }));
  const upload = { ...at(key), UploadId: UploadId! };
  return {
    upload,
    part: async (PartNumber: number, Body: Buffer, options: object = {}) => {
      const { ETag } = await storage.client.send(
        new UploadPartCommand({ ...upload, PartNumber, Body, ...options }),
      );
      return { PartNumber, ETag };
    },
    complete: (Parts: { PartNumber: number; ETag: string | undefined }[], options: object = {}) =>
      storage.client.send(
        new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts }, ...options }),
      ),
  };
}

describe("multipart uploads", () => {
  it("U3 parts in any order, one of them sent twice, become one object with its type", async () => {
    const [one, two, three] = [randomBytes(partBytes), randomBytes(partBytes + 7), randomBytes(99)];
    const { part, complete } = await begin("video.mp4", { ContentType: "video/mp4" });
    const third = await part(3, three);
    await part(1, randomBytes(partBytes));
    const second = await part(2, two);
    const first = await part(1, one);
    const files = await storage.countFiles();
    const done = await complete([first, second, third]);
    expect(done.ETag).toBe(`"${md5(md5(one), md5(two), md5(three)).toString("hex")}-3"`);
    expect(await storage.countFiles()).toBe(files);
    const answer = await storage.client.send(new GetObjectCommand(at("video.mp4")));
    expect(answer.ContentType).toBe("video/mp4");
    const body = Buffer.from(await answer.Body!.transformToByteArray());
    expect(body.equals(Buffer.concat([one, two, three]))).toBe(true);
    const border = await storage.client.send(
      new GetObjectCommand({ ...at("video.mp4"), Range: `bytes=${partBytes - 2}-${partBytes + 1}` }),
    );
    expect(Buffer.from(await border.Body!.transformToByteArray())).toEqual(
      body.subarray(partBytes - 2, partBytes + 2),
    );
  });

  it("U3 a browser that comes back finds the parts that are there, page by page", async () => {
    const { upload, part } = await begin("resumed.mp4");
    for (const number of [1, 2, 5]) await part(number, Buffer.from(`part ${number}`));
    const first = await storage.client.send(new ListPartsCommand({ ...upload, MaxParts: 2 }));
    expect(first.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size])).toEqual([
      [1, 6],
      [2, 6],
    ]);
    expect(first.IsTruncated).toBe(true);
    const second = await storage.client.send(
      new ListPartsCommand({ ...upload, PartNumberMarker: first.NextPartNumberMarker }),
    );
    expect(second.Parts?.map(({ PartNumber }) => PartNumber)).toEqual([5]);
    expect(second.IsTruncated).toBe(false);
  });

  it("U2 of two completions under If-None-Match, the second finds the object and changes nothing", async () => {
    const [one, two] = [await begin("once.mp4"), await begin("once.mp4")];
    const parts = [await one.part(1, Buffer.from("one")), await two.part(1, Buffer.from("two"))] as const;
    const results = await Promise.allSettled([
      one.complete([parts[0]], { IfNoneMatch: "*" }),
      two.complete([parts[1]], { IfNoneMatch: "*" }),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = results.find((result) => result.status === "rejected");
    expect(refused?.reason.name).toBe("PreconditionFailed");
    const winner = results[0]?.status === "fulfilled" ? "one" : "two";
    const answer = await storage.client.send(new GetObjectCommand(at("once.mp4")));
    expect(await answer.Body!.transformToString()).toBe(winner);
  });

  it("U3 a completion whose answer was lost gets the same answer again", async () => {
    const { part, complete } = await begin("again.mp4");
    const parts = [await part(1, Buffer.from("x"))];
    const first = await complete(parts, { IfNoneMatch: "*" });
    const second = await complete(parts, { IfNoneMatch: "*" });
    expect(second.ETag).toBe(first.ETag);
  });

  it("refuses parts that are missing, changed, too small or out of order", async () => {
    const { upload, part, complete } = await begin("refused.mp4");
    const [small, last] = [await part(1, Buffer.from("small")), await part(2, Buffer.from("last"))];
    expect(await codeOf(complete([small, last]))).toBe("EntityTooSmall");
    expect(await codeOf(complete([last, small]))).toBe("InvalidPartOrder");
    expect(await codeOf(complete([{ PartNumber: 9, ETag: last.ETag }]))).toBe("InvalidPart");
    expect(await codeOf(complete([{ PartNumber: 2, ETag: small.ETag }]))).toBe("InvalidPart");
    expect(await codeOf(complete([]))).toBe("MalformedXML");
    const another = new ListPartsCommand({ ...upload, Key: "another.mp4" });
    expect(await codeOf(storage.client.send(another))).toBe("NoSuchUpload");
  });

  it("U7 an aborted upload is gone with its parts, and takes no more", async () => {
    const files = await storage.countFiles();
    const { upload, part } = await begin("aborted.mp4");
    await part(1, Buffer.from("x"));
    await storage.client.send(new AbortMultipartUploadCommand(upload));
    expect(await storage.countFiles()).toBe(files);
    expect(await codeOf(part(2, Buffer.from("y")))).toBe("NoSuchUpload");
    expect(await storage.countFiles()).toBe(files);
  });

  it("U7 lists what is under way, page by page", async () => {
    const begun = [await begin("list/a"), await begin("list/a"), await begin("list/b")];
    const found: (string | undefined)[] = [];
    let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (let truncated = true; truncated; ) {
      const page = await storage.client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: "list/", MaxUploads: 1, ...marker }),
      );
      found.push(...(page.Uploads ?? []).map(({ UploadId }) => UploadId));
      marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      truncated = page.IsTruncated ?? false;
    }
    expect(found.toSorted()).toEqual(begun.map(({ upload }) => upload.UploadId).toSorted());
  });

  it("keeps a checksum of the parts' checksums", async () => {
    const body = Buffer.from("checked");
    const sha256 = (data: Buffer) => createHash("sha256").update(data).digest();
    const { part, complete } = await begin("checked.mp4", { ChecksumAlgorithm: "SHA256" });
    const first = await part(1, body, { ChecksumSHA256: sha256(body).toString("base64") });
    await complete([first]);
    const head = await storage.client.send(
      new HeadObjectCommand({ ...at("checked.mp4"), ChecksumMode: "ENABLED" }),
    );
    expect(head.ChecksumSHA256).toBe(`${sha256(sha256(body)).toString("base64")}-1`);
    expect(head.ChecksumType).toBe("COMPOSITE");
  });

  it("a reader of a replaced object gets all of the old one, and then its files go", async () => {
    const { part, complete } = await begin("replaced.mp4");
    const [one, two] = [randomBytes(24 * 1024 * 1024), randomBytes(1000)];
    const parts = [await part(1, one), await part(2, two)];
    await complete(parts);
    const files = await storage.countFiles();
    const answer = await storage.client.send(new GetObjectCommand(at("replaced.mp4")));
    const chunks: Buffer[] = [];
    for await (const chunk of answer.Body as Readable) {
      if (chunks.length === 0)
        await storage.client.send(new PutObjectCommand({ ...at("replaced.mp4"), Body: "new" }));
      chunks.push(chunk);
    }
    expect(Buffer.concat(chunks).equals(Buffer.concat([one, two]))).toBe(true);
    await expect.poll(() => storage.countFiles()).toBe(files - 1);
  });

  it("copies a stretch of an object as a part", async () => {
    await storage.client.send(new PutObjectCommand({ ...at("whole"), Body: "0123456789" }));
    const { upload, complete } = await begin("stretch");
    const copied = await storage.client.send(
      new UploadPartCopyCommand({
        ...upload,
        PartNumber: 1,
        CopySource: `${bucket}/whole`,
        CopySourceRange: "bytes=2-4",
      }),
    );
    await complete([{ PartNumber: 1, ETag: copied.CopyPartResult?.ETag }]);
    const answer = await storage.client.send(new GetObjectCommand(at("stretch")));
    expect(await answer.Body!.transformToString()).toBe("234");
  });
});
