import { randomBytes } from "node:crypto";
import http from "node:http";
import { GetObjectCommand, HeadObjectCommand } from "@aws-sdk/client-s3";
import { createPresignedPost, type PresignedPostOptions } from "@aws-sdk/s3-presigned-post";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucket, codeOf, startTestStorage, type TestStorage } from "./testing/test-storage.ts";

let storage: TestStorage;
beforeAll(async () => {
  storage = await startTestStorage();
});
afterAll(() => storage.stop());

const sizeBytesMax = 20_000_000;

async function signForm(options: Partial<PresignedPostOptions> = {}) {
  // The package brings its own copy of the client's types.
  return createPresignedPost(storage.client as never, {
    Bucket: bucket,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: It is S3's own syntax.
    Key: "form/${filename}",
    Conditions: [
      ["content-length-range", 10, sizeBytesMax],
      ["starts-with", "$Content-Type", "image/"],
    ],
    Fields: { "Content-Type": "image/png" },
    Expires: 60,
    ...options,
  });
}

async function post(body: Buffer, change: (fields: Record<string, string>) => object = () => ({})) {
  const { url, fields } = await signForm();
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, ...change(fields) }))
    form.append(name, String(value));
  form.append("file", new Blob([new Uint8Array(body)]), "picture.png");
  const answer = await fetch(url, { method: "POST", body: form });
  return { status: answer.status, code: /<Code>(\w+)</.exec(await answer.text())?.[1] };
}

describe("forms", () => {
  it("takes a file that the policy allows", async () => {
    const body = randomBytes(sizeBytesMax);
    expect(await post(body)).toMatchObject({ status: 204 });
    const answer = await storage.client.send(
      new GetObjectCommand({ Bucket: bucket, Key: "form/picture.png" }),
    );
    expect(answer.ContentType).toBe("image/png");
    expect(Buffer.from(await answer.Body!.transformToByteArray()).equals(body)).toBe(true);
  });

  it("refuses what the policy doesn't allow, and keeps nothing of it", async () => {
    const files = await storage.countFiles();
    const small = Buffer.alloc(100);
    expect(await post(Buffer.alloc(9))).toEqual({ status: 400, code: "EntityTooSmall" });
    expect(await post(Buffer.alloc(sizeBytesMax + 1))).toEqual({ status: 400, code: "EntityTooLarge" });
    expect(await post(small, () => ({ "Content-Type": "text/html" }))).toEqual({
      status: 403,
      code: "AccessDenied",
    });
    expect(await post(small, () => ({ key: "elsewhere" }))).toEqual({ status: 403, code: "AccessDenied" });
    expect(await post(small, () => ({ extra: "field" }))).toEqual({ status: 403, code: "AccessDenied" });
    expect(await post(small, () => ({ "X-Amz-Signature": "0".repeat(64) }))).toEqual({
      status: 403,
      code: "SignatureDoesNotMatch",
    });
    const wider = Buffer.from(JSON.stringify({ expiration: "2100-01-01T00:00:00Z", conditions: [] }));
    expect(await post(small, () => ({ Policy: wider.toString("base64") }))).toEqual({
      status: 403,
      code: "SignatureDoesNotMatch",
    });
    expect(await storage.countFiles()).toBe(files);
  });

  it("D1 refuses a field that could never be sent as a header again", async () => {
    const { url, fields } = await signForm({
      Key: "form/unsendable",
      Fields: { "x-amz-meta-no name": "x" },
      Conditions: [],
    });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", new Blob(["x"]), "x.bin");
    const answer = await fetch(url, { method: "POST", body: form });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("<Code>InvalidArgument</Code>");
  });

  it("keeps nothing of a form that ends in the middle", async () => {
    const files = await storage.countFiles();
    const { url, fields } = await signForm({ Key: "form/cut.png" });
    const boundary = "cut";
    const head = Object.entries(fields)
      .map(
        ([name, value]) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      )
      .join("");
    const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="cut.png"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head + file), Buffer.alloc(1_000_000)]);
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    // Without the closing boundary, and as a connection that breaks.
    const whole = await fetch(url, { method: "POST", headers, body });
    expect(whole.status).toBe(400);
    const request = http.request(url, {
      method: "POST",
      headers: { ...headers, "content-length": 5_000_000 },
    });
    const closed = new Promise((resolve) => request.once("close", resolve).on("error", () => {}));
    request.write(body, () => request.destroy());
    await closed;
    await expect.poll(() => storage.countFiles()).toBe(files);
    const head404 = storage.client.send(new HeadObjectCommand({ Bucket: bucket, Key: "form/cut.png" }));
    expect(await codeOf(head404)).toBe("NotFound");
  });
});
