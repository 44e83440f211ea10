import {
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestStorage, type TestStorage } from "../local/s3/testing/test-storage.ts";
import { ensureBucket } from "./bucket.ts";
import { createS3Client } from "./storage-config.ts";

let storage: TestStorage;
beforeAll(async () => {
  storage = await startTestStorage();
});
afterAll(() => storage.stop());

describe("the bucket's set-up", () => {
  it("U2 lets the app's pages upload in parts, however often it is made", async () => {
    const config = { ...storage.config, bucket: "made-twice" };
    await ensureBucket(config, ["https://old.example"]);
    await ensureBucket(config, ["https://app.example"]);
    const preflight = (origin: string, method: string) =>
      fetch(`${config.endpoint}/made-twice/key`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": method },
      });
    for (const method of ["GET", "HEAD", "PUT", "POST", "DELETE"])
      expect((await preflight("https://app.example", method)).status).toBe(204);
    expect((await preflight("https://old.example", "PUT")).status).toBe(403);
  });

  it("U7 lets the bucket abort what stays incomplete for 7 days, and keeps the rules of others", async () => {
    const config = { ...storage.config, bucket: "with-rules" };
    const client = createS3Client(config);
    const rules = async () =>
      (await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: config.bucket }))).Rules;
    const putRules = (...Rules: LifecycleRule[]) =>
      client.send(
        new PutBucketLifecycleConfigurationCommand({
          Bucket: config.bucket,
          LifecycleConfiguration: { Rules },
        }),
      );
    const own: LifecycleRule = {
      ID: "abort-incomplete-uploads",
      Status: "Enabled",
      Filter: { Prefix: "" },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
    };
    const others: LifecycleRule = { ...own, ID: "others", Filter: { Prefix: "others/" } };
    try {
      await ensureBucket(config, ["https://app.example"]);
      expect(await rules()).toEqual([own]);
      await putRules({ ...own, Status: "Disabled" }, others);
      await ensureBucket(config, ["https://app.example"]);
      expect(await rules()).toEqual([others, own]);
      await ensureBucket(config, ["https://app.example"]);
      expect(await rules()).toEqual([others, own]);
    } finally {
      client.destroy();
    }
  });
});
