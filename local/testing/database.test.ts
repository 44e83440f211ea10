import { openDatabase } from "@reelkeep/db/client";
import { uploads } from "@reelkeep/db/schema/uploads";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it("a test file gets a database of its own with the real migrations", async () => {
  const { db, close } = openDatabase(database.url);
  expect(await db.select().from(uploads)).toEqual([]);
  expect(await db.execute(sql`select current_database() as name`)).toMatchObject({
    rows: [{ name: new URL(database.url).pathname.slice(1) }],
  });
  await close();
});
