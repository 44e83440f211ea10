import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucket, startTestStorage, type TestStorage } from "./testing/test-storage.ts";

let storage: TestStorage;
const keys = [
  ...["a", "a/", "a/b", "a/b/c", "a/b/d", "a-b", "a.b", "a0", "ab", "b/1", "b/2", "b/sub/x", "c/c", "z"],
  // UTF-16 orders the last two the other way round.
  ...["é/1", "\u{ff5e}", "\u{1f600}", "sp ace/+&<>\"'", "../up", "./dot", "x//y"],
];
const inOrder = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

beforeAll(async () => {
  storage = await startTestStorage();
  for (const Key of keys) await storage.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: "x" }));
});
afterAll(() => storage.stop());

async function listAll(options: { prefix: string; delimiter: string; pageSize: number; after: string }) {
  const found: string[] = [];
  let token: string | undefined;
  do {
    const page = await storage.client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: options.prefix,
        MaxKeys: options.pageSize,
        ...(options.delimiter ? { Delimiter: options.delimiter } : {}),
        ...(options.after ? { StartAfter: options.after } : {}),
        ...(token ? { ContinuationToken: token } : {}),
      }),
    );
    const names = [
      ...(page.Contents ?? []).map(({ Key }) => Key!),
      ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!),
    ];
    expect(names.length).toBeLessThanOrEqual(options.pageSize);
    expect(page.KeyCount).toBe(names.length);
    found.push(...names);
    token = page.NextContinuationToken;
  } while (token);
  return found;
}

describe("listing", () => {
  it("lists the same, whatever the size of a page, the prefix, the delimiter and the start", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("", "a", "a/", "a/b", "b/", "é", "none", "../"),
        fc.constantFrom("", "/", "b"),
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom("", "a/b", "b/1", "b/sub", "\u{ff5e}"),
        async (prefix, delimiter, pageSize, after) => {
          const expected = new Set<string>();
          for (const key of inOrder) {
            if (!key.startsWith(prefix) || Buffer.compare(Buffer.from(key), Buffer.from(after)) <= 0)
              continue;
            const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
            expected.add(cut < 0 ? key : key.slice(0, cut + delimiter.length));
          }
          const found = await listAll({ prefix, delimiter, pageSize, after });
          expect(found.toSorted()).toEqual([...expected].toSorted());
        },
      ),
      { numRuns: 40 },
    );
  });

  it("lists in the order of the keys' bytes", async () => {
    expect(await listAll({ prefix: "", delimiter: "", pageSize: 4, after: "" })).toEqual(inOrder);
  });
});
