import { randomUUID } from "node:crypto";
import type { Actor } from "@reelkeep/core/access/policy";
import { findLibraryRow } from "@reelkeep/db/library";
import { seedJob } from "@reelkeep/db/testing/seed";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAssets } from "./list-library.ts";
import { publishVersion } from "./publish-version.ts";
import { createActor, createTestContext, type TestContext, verifiedOutput } from "./testing/context.ts";

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let creator: Actor;

beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  creator = await createActor(context);
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
});

const list = (cursor?: string) => listAssets(context, creator, { filter: "all", q: "", cursor });

describe("the library's pages", () => {
  it("X1 the pages together show every asset once, newest first", async () => {
    const made: string[] = [];
    for (let i = 0; i < 50; i++)
      made.push((await seedJob(context.db, "failed", { userId: creator.userId })).assetId);
    const first = await list();
    expect(first.assets).toHaveLength(48);
    const second = await list(first.nextCursor!);
    expect(second.nextCursor).toBeNull();
    const shown = [...first.assets, ...second.assets];
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set(made));
    const times = shown.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
  });

  it.each([
    ["no cursor at all", "nonsense"],
    ["an id that isn't a UUID", `2026-01-01T00:00:00.000Z ${"-".repeat(36)}`],
    ["an id of hex alone", `2026-01-01T00:00:00.000Z ${"a".repeat(36)}`],
    ["a time that isn't one", `2026-13-01T00:00:00.000Z ${randomUUID()}`],
    ["a year beyond what is stored", `+275760-09-13T00:00:00.000Z ${randomUUID()}`],
  ])("X1 a cursor with %s is refused", async (_what, text) => {
    await expect(list(Buffer.from(text).toString("base64url"))).rejects.toEqual(
      expect.objectContaining({ code: "invalid-request" }),
    );
  });

  it("X1 a row carries no inventory, which is as long as the film", async () => {
    const { job, attempt, assetId } = await seedJob(context.db, "job-received");
    const lease = { actionKey: job.actionKey, attemptId: attempt!.id };
    const inventory = [{ name: "a.ts", sizeBytes: 1, etag: "e" }];
    await publishVersion(context, lease, { ...verifiedOutput, inventory });
    const row = await findLibraryRow(context.db, { userId: creator.userId, seesAll: true }, assetId);
    expect(row?.version).toMatchObject({ versionNumber: 1 });
    expect(row?.version).not.toHaveProperty("inventory");
  });
});
