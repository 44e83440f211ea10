import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OpenDatabase, openDatabase } from "./client.ts";

let test: TestDatabase;
let open: OpenDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  open = openDatabase(test.url, { connectionsMax: 1 });
});
afterAll(async () => {
  await open.close();
  await test.drop();
});

const backendOf = async (db: Pick<OpenDatabase["db"], "execute">): Promise<number> =>
  (await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)).rows[0]!.pid;

it("J2 a connection that breaks inside a transaction fails that transaction alone: the process lives and asks anew", async () => {
  const other = openDatabase(test.url);
  let broken = 0;
  const transaction = open.db.transaction(async (tx) => {
    broken = await backendOf(tx);
    await other.db.execute(sql`select pg_terminate_backend(${broken}, 10000)`);
    await tx.execute(sql`select 1`);
  });
  await expect(transaction).rejects.toThrow();
  expect(await backendOf(open.db)).not.toBe(broken);
  await other.close();
});
