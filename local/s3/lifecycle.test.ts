import {
  CreateMultipartUploadCommand,
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  ListMultipartUploadsCommand,
  PutBucketLifecycleConfigurationCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { bucket, codeOf, startTestStorage, type TestStorage } from "./testing/test-storage.ts";

const dayMilliseconds = 24 * 3600_000;
const daysAhead = (days: number) => () => new Date(Date.now() + days * dayMilliseconds);

async function start(options: Parameters<typeof startTestStorage>[0] = {}): Promise<TestStorage> {
  const storage = await startTestStorage(options);
  onTestFinished(() => storage.stop());
  return storage;
}

const putRules = ({ client }: TestStorage, ...Rules: LifecycleRule[]) =>
  client.send(
    new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: { Rules } }),
  );

async function rulesOf({ client }: TestStorage): Promise<LifecycleRule[] | undefined> {
  return (await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }))).Rules;
}

async function beginUpload({ client }: TestStorage, Key: string): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }));
  await client.send(new UploadPartCommand({ Bucket: bucket, Key, UploadId, PartNumber: 1, Body: "x" }));
}

async function openKeys({ client }: TestStorage): Promise<(string | undefined)[]> {
  const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return (Uploads ?? []).map(({ Key }) => Key);
}

const abortRule = (Prefix: string, DaysAfterInitiation = 7): LifecycleRule => ({
  ID: `abort ${Prefix}`,
  Status: "Enabled",
  Filter: { Prefix },
  AbortIncompleteMultipartUpload: { DaysAfterInitiation },
});

describe("a bucket's lifecycle", () => {
  afterEach(() => vi.useRealTimers());

  it("U7 its rules are kept as they were sent until they are removed", async () => {
    const storage = await start();
    expect(await codeOf(rulesOf(storage))).toBe("NoSuchLifecycleConfiguration");
    await putRules(storage, abortRule("uploads/"), { ...abortRule("other/"), Status: "Disabled" });
    expect(await rulesOf(storage)).toEqual([
      abortRule("uploads/"),
      { ...abortRule("other/"), Status: "Disabled" },
    ]);
    await storage.client.send(new DeleteBucketLifecycleCommand({ Bucket: bucket }));
    expect(await codeOf(rulesOf(storage))).toBe("NoSuchLifecycleConfiguration");
  });

  it.each<[string, Partial<LifecycleRule>]>([
    ["expiration", { Expiration: { Days: 1 } }],
    ["transition", { Transitions: [{ Days: 30, StorageClass: "GLACIER" }] }],
    ["end of old versions", { NoncurrentVersionExpiration: { NoncurrentDays: 1 } }],
    ["filter by tag", { Filter: { Tag: { Key: "a", Value: "b" } } }],
    ["filter by size", { Filter: { ObjectSizeGreaterThan: 5 } }],
    ["filter by several", { Filter: { And: { Prefix: "a", ObjectSizeLessThan: 5 } } }],
  ])("U7 a rule that isn't carried out here (%s) is refused, never kept", async (_name, more) => {
    const storage = await start();
    const refused = putRules(storage, { ...abortRule("uploads/"), ...more });
    await expect(refused).rejects.toMatchObject({
      name: "NotImplemented",
      message: expect.stringContaining("Only AbortIncompleteMultipartUpload"),
    });
    expect(await codeOf(rulesOf(storage))).toBe("NoSuchLifecycleConfiguration");
  });

  it("a rule without an action is malformed", async () => {
    const storage = await start();
    const { AbortIncompleteMultipartUpload: _, ...idle } = abortRule("uploads/");
    expect(await codeOf(putRules(storage, idle))).toBe("MalformedXML");
  });

  it("U7 at its start, storage aborts what stayed incomplete for the days of its rule, and nothing else", async () => {
    const storage = await startTestStorage();
    await putRules(storage, abortRule("uploads/"), { ...abortRule("kept/"), Status: "Disabled" });
    await beginUpload(storage, "uploads/old");
    await beginUpload(storage, "kept/old");
    await storage.close();

    const early = await startTestStorage({ dataDir: storage.dataDir, now: daysAhead(6.9) });
    // Closing waits for the sweep.
    await early.close();
    expect(await early.countFiles()).toBe(2);

    const late = await start({ dataDir: storage.dataDir, now: daysAhead(7.1) });
    await expect.poll(() => openKeys(late)).toEqual(["kept/old"]);
    await expect.poll(() => late.countFiles()).toBe(1);
  });

  it("U7 it looks again every hour", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let now = new Date();
    const storage = await start({ now: () => now });
    await putRules(storage, abortRule("", 1));
    await beginUpload(storage, "uploads/old");
    now = daysAhead(1.1)();
    vi.advanceTimersByTime(3600_000);
    await expect.poll(() => openKeys(storage)).toEqual([]);
    await beginUpload(storage, "uploads/new");
    now = new Date();
    vi.advanceTimersByTime(3600_000);
    expect(await openKeys(storage)).toEqual(["uploads/new"]);
  });
});
