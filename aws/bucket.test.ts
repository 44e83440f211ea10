import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestStorage, type TestStorage } from "../local/s3/testing/test-storage.ts";
import { ensureBucket } from "./bucket.ts";

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
});
