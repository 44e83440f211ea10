import {
  CreateBucketCommand,
  DeleteBucketCorsCommand,
  GetBucketCorsCommand,
  GetObjectCommand,
  PutBucketCorsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucket, startTestStorage, type TestStorage } from "./testing/test-storage.ts";

const app = "https://app.example";
let storage: TestStorage;
beforeAll(async () => {
  storage = await startTestStorage({ corsOrigins: [app] });
  await storage.client.send(new PutObjectCommand({ Bucket: bucket, Key: "a", Body: "x" }));
});
afterAll(() => storage.stop());

const preflight = (origin: string, method: string, path = `/${bucket}/a`) =>
  fetch(storage.s3.url + path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "content-type,if-none-match,x-amz-checksum-sha256",
    },
  });

describe("CORS", () => {
  it.each(["GET", "HEAD", "PUT", "POST", "DELETE"])(
    "U3 the app's pages may %s, and read the ETag",
    async (method) => {
      const asked = await preflight(app, method);
      expect(asked.status).toBe(204);
      expect(asked.headers.get("access-control-allow-origin")).toBe(app);
      expect(asked.headers.get("access-control-allow-methods")).toContain(method);
      expect(asked.headers.get("access-control-allow-headers")).toContain("x-amz-checksum-sha256");
      const url = await getSignedUrl(storage.client, new GetObjectCommand({ Bucket: bucket, Key: "a" }));
      const answer = await fetch(url, { headers: { origin: app } });
      expect(answer.headers.get("access-control-allow-origin")).toBe(app);
      expect(answer.headers.get("access-control-expose-headers")).toContain("ETag");
      expect(answer.headers.get("vary")).toBe("Origin");
    },
  );

  it.each(["https://app.example.evil", "http://app.example", "https://evil", "null"])(
    "D1 a page of %s may not",
    async (origin) => {
      const asked = await preflight(origin, "PUT");
      expect(asked.status).toBe(403);
      expect(asked.headers.get("access-control-allow-origin")).toBeNull();
      const url = await getSignedUrl(storage.client, new GetObjectCommand({ Bucket: bucket, Key: "a" }));
      expect(
        (await fetch(url, { headers: { origin } })).headers.get("access-control-allow-origin"),
      ).toBeNull();
    },
  );

  it("D1 refusals can be read by the app's pages too, so that they can tell why", async () => {
    const answer = await fetch(`${storage.s3.url}/${bucket}/a`, { headers: { origin: app } });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("access-control-allow-origin")).toBe(app);
  });

  it("a bucket's own rules take the default's place, and stay", async () => {
    const Bucket = "with-rules";
    const other = "https://other.example";
    await storage.client.send(new CreateBucketCommand({ Bucket }));
    const rule = {
      AllowedOrigins: [other],
      AllowedMethods: ["PUT"],
      AllowedHeaders: ["*"],
      MaxAgeSeconds: 60,
    };
    await storage.client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }));
    await storage.close();
    storage = await startTestStorage({ dataDir: storage.dataDir, corsOrigins: [app] });
    expect((await storage.client.send(new GetBucketCorsCommand({ Bucket }))).CORSRules).toEqual([rule]);
    expect((await preflight(other, "PUT", `/${Bucket}/x`)).headers.get("access-control-max-age")).toBe("60");
    expect((await preflight(other, "DELETE", `/${Bucket}/x`)).status).toBe(403);
    expect((await preflight(app, "PUT", `/${Bucket}/x`)).status).toBe(403);
    await storage.client.send(new DeleteBucketCorsCommand({ Bucket }));
    expect((await preflight(app, "PUT", `/${Bucket}/x`)).status).toBe(204);
  });
});
