import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createObjectStore, type ObjectStore } from "./object-store.ts";
import { createPresigner, type PresignedRequest, type Presigner } from "./presign.ts";

let storage: TestStorage;
let presigner: Presigner;
let store: ObjectStore;
beforeAll(async () => {
  storage = await startTestStorage();
  presigner = createPresigner(storage);
  store = createObjectStore(storage);
});
afterAll(() => storage?.stop());

const body = "what a creator sent";
const sha256 = (text: string) => createHash("sha256").update(text).digest("base64");
const newKey = () => `uploads/u/${randomUUID()}/source.mp4`;

/** Sends exactly these headers; null leaves one of the signed ones out. */
async function send(
  method: string,
  { url, headers }: PresignedRequest,
  content = "",
  changed: Record<string, string | null> = {},
) {
  const all = { ...headers, ...changed };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  const sent = request(url, { method, headers: given as Record<string, string>, agent: false });
  sent.end(content);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: response.statusCode, etag: response.headers.etag, text };
}

const signPut = (key: string, more: { expiresInSeconds?: number; checksum?: string | undefined } = {}) =>
  presigner.putObject({
    key,
    contentType: "video/mp4",
    sizeBytes: body.length,
    checksumSha256Base64: "checksum" in more ? more.checksum : sha256(body),
    expiresInSeconds: more.expiresInSeconds ?? 300,
  });

describe("a single PUT", () => {
  it("U2 the right request passes and leaves what was announced", async () => {
    const key = newKey();
    const signed = await signPut(key);
    expect(signed.headers).toEqual({
      "content-type": "video/mp4",
      "if-none-match": "*",
      "x-amz-checksum-sha256": sha256(body),
    });
    expect((await send("PUT", signed, body)).status).toBe(200);
    expect(await store.head(key)).toEqual({
      sizeBytes: body.length,
      etag: createHash("md5").update(body).digest("hex"),
      contentType: "video/mp4",
      checksumSha256: sha256(body),
    });
  });

  it("U2 every header that must not differ is signed, and none hides in the address", async () => {
    const query = new URL((await signPut(newKey())).url).searchParams;
    expect(query.get("X-Amz-SignedHeaders")).toBe(
      "content-length;content-type;host;if-none-match;x-amz-checksum-sha256",
    );
    expect([...query.keys()].filter((name) => /checksum|if-none|content-type/i.test(name))).toEqual([]);
  });

  it("U2 without a known checksum, none is asked for", async () => {
    const key = newKey();
    const signed = await signPut(key, { checksum: undefined });
    expect(signed.headers).toEqual({ "content-type": "video/mp4", "if-none-match": "*" });
    expect((await send("PUT", signed, body)).status).toBe(200);
  });

  it.each<[string, string, Record<string, string | null>, number]>([
    ["another type", body, { "content-type": "text/html" }, 403],
    ["no type", body, { "content-type": null }, 403],
    ["a longer file", `${body}!`, {}, 403],
    ["a shorter file", body.slice(1), {}, 403],
    ["another checksum", body, { "x-amz-checksum-sha256": sha256("other") }, 403],
    ["no checksum", body, { "x-amz-checksum-sha256": null }, 403],
    ["another content of the same length", body.replace("w", "W"), {}, 400],
    ["leave to overwrite", body, { "if-none-match": null }, 403],
    ["a header of its own", body, { "x-amz-acl": "public-read" }, 403],
  ])("U2 %s is refused by storage itself", async (_, content, changed, status) => {
    const key = newKey();
    const signed = await signPut(key);
    expect((await send("PUT", signed, content, changed)).status).toBe(status);
    expect(await store.head(key)).toBeNull();
  });

  it("U2 a second PUT changes nothing: 412", async () => {
    const key = newKey();
    const signed = await signPut(key);
    await send("PUT", signed, body);
    const again = await send("PUT", signed, body);
    expect([again.status, again.text]).toEqual([412, expect.stringContaining("PreconditionFailed")]);
  });

  it("U2 the address is of one key and one method", async () => {
    const signed = await signPut(newKey());
    const elsewhere = newKey();
    const moved = { ...signed, url: signed.url.replace(/uploads\/u\/[^/]+/, elsewhere.slice(0, 46)) };
    expect(moved.url).not.toBe(signed.url);
    expect((await send("PUT", moved, body)).status).toBe(403);
    expect((await send("GET", signed)).status).toBe(403);
    expect((await send("DELETE", signed)).status).toBe(403);
  });

  it("U2 an address that has ended is refused", async () => {
    const key = newKey();
    const signed = await signPut(key, { expiresInSeconds: 1 });
    const signedAt = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 2100 - (Date.now() - signedAt)));
    expect((await send("PUT", signed, body)).status).toBe(403);
    expect(await store.head(key)).toBeNull();
  });
});

describe("an upload in parts", () => {
  const partBytes = 5 * 1024 * 1024;
  const begin = async () => {
    const key = newKey();
    const uploadId = await store.createMultipartUpload(key, { contentType: "video/mp4" });
    return { key, uploadId, expiresInSeconds: 300 };
  };
  const completeBody = (etags: (string | undefined)[]) =>
    `<CompleteMultipartUpload>${etags
      .map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`)
      .join("")}</CompleteMultipartUpload>`;

  it("U2 U3 parts, their list and the end are all signed requests of the browser's own", async () => {
    const upload = await begin();
    const parts = ["a".repeat(partBytes), "the end"];
    const etags = [];
    for (const [i, part] of parts.entries()) {
      const signed = await presigner.uploadPart({ ...upload, partNumber: i + 1, sizeBytes: part.length });
      const answer = await send("PUT", signed, part);
      expect(answer.status).toBe(200);
      etags.push(answer.etag);
    }
    const listed = await send("GET", await presigner.listParts(upload));
    expect(listed.text.match(/<PartNumber>\d/g)).toEqual(["<PartNumber>1", "<PartNumber>2"]);
    const complete = await presigner.completeMultipartUpload(upload);
    expect(complete.headers).toEqual({ "if-none-match": "*" });
    expect((await send("POST", complete, completeBody(etags))).status).toBe(200);
    expect(await store.head(upload.key)).toMatchObject({
      sizeBytes: partBytes + parts[1]!.length,
      contentType: "video/mp4",
      checksumSha256: null,
    });
  });

  it("U2 a part of another length, number or upload is refused", async () => {
    const upload = await begin();
    const signed = await presigner.uploadPart({ ...upload, partNumber: 1, sizeBytes: 7 });
    const withQuery = (name: string, value: string) => {
      const url = new URL(signed.url);
      url.searchParams.set(name, value);
      return { ...signed, url: url.href };
    };
    expect((await send("PUT", signed, "12345678")).status).toBe(403);
    expect((await send("PUT", withQuery("partNumber", "2"), "1234567")).status).toBe(403);
    expect((await send("PUT", withQuery("uploadId", (await begin()).uploadId), "1234567")).status).toBe(403);
    expect((await send("GET", await presigner.listParts(upload))).text).not.toContain("<PartNumber>");
    expect((await send("PUT", signed, "1234567")).status).toBe(200);
  });

  it("U2 completing doesn't replace what lies there already", async () => {
    const upload = await begin();
    await store.putText(upload.key, "first", { contentType: "video/mp4" });
    const part = await send(
      "PUT",
      await presigner.uploadPart({ ...upload, partNumber: 1, sizeBytes: 1 }),
      "1",
    );
    const complete = await presigner.completeMultipartUpload(upload);
    expect((await send("POST", complete, completeBody([part.etag]), { "if-none-match": null })).status).toBe(
      403,
    );
    expect((await send("POST", complete, completeBody([part.etag]))).status).toBe(412);
    expect(await store.readText(upload.key)).toBe("first");
  });

  it("U3 aborting removes what had been sent", async () => {
    const upload = await begin();
    await send("PUT", await presigner.uploadPart({ ...upload, partNumber: 1, sizeBytes: 1 }), "1");
    expect((await send("DELETE", await presigner.abortMultipartUpload(upload))).status).toBe(204);
    expect(await send("GET", await presigner.listParts(upload))).toMatchObject({ status: 404 });
    expect(await store.listMultipartUploads(upload.key)).toEqual([]);
  });
});
