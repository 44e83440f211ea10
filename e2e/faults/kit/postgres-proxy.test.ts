import { setImmediate as turn } from "node:timers/promises";
import { sql } from "drizzle-orm";
import pg from "pg";
import { beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { poll } from "./poll.ts";
import { commitAfter } from "./postgres-statement.ts";
import { startFaultStackForFile } from "./stack.ts";

const stack = startFaultStackForFile({ paused: true });
beforeAll(() => stack().db.execute(sql`create table marks (name text)`));
beforeEach(() => stack().db.execute(sql`truncate marks`));

const marks = async () =>
  (await stack().db.execute<{ name: string }>(sql`select name from marks order by name`)).rows.map(
    ({ name }) => name,
  );

async function openClient(applicationName = "reelkeep-worker 1") {
  const client = new pg.Client({
    connectionString: stack().database.url,
    application_name: applicationName,
  });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => void client.end());
  const mark = (name: string) => client.query("insert into marks values ($1)", [name]);
  return {
    client,
    mark,
    async markInTransaction(name: string) {
      await client.query("begin");
      await mark(name);
      await client.query("commit");
    },
  };
}

it("a statement that is held reaches the server when it is released, not sooner", async () => {
  const held = stack().database.hold({ text: /insert into marks/, parameter: "held" });
  const { mark } = await openClient();
  await mark("other");
  const done = mark("held");
  expect(await held.caught()).toMatchObject({ by: "reelkeep-worker 1", parameters: ["held"] });
  expect(await marks()).toEqual(["other"]);
  held.release();
  await done;
  expect(await marks()).toEqual(["held", "other"]);
});

it("a lost answer: the server has done it, and the client sees a broken connection", async () => {
  const lost = stack().database.loseAnswer(commitAfter({ text: /insert into marks/, parameter: "lost" }));
  const { markInTransaction } = await openClient();
  await markInTransaction("other");
  await expect(markInTransaction("lost")).rejects.toThrow();
  expect(await lost.caught()).toMatchObject({ text: "commit" });
  expect(await marks()).toEqual(["lost", "other"]);
});

it("a commit that is cut before the server is rolled back", async () => {
  const cut = stack().database.cutBefore(commitAfter({ text: /insert into marks/ }));
  await expect((await openClient()).markInTransaction("cut")).rejects.toThrow();
  await cut.caught();
  expect(await marks()).toEqual([]);
});

it("a dead client's commit that is released arrives late and counts", async () => {
  const held = stack().database.hold(commitAfter({ text: /insert into marks/ }));
  const { client, markInTransaction } = await openClient();
  markInTransaction("late").catch(() => {});
  await held.caught();
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  await turn();
  expect(await marks()).toEqual([]);
  held.release();
  await poll("the commit has arrived", async () => (await marks()).join() === "late");
});

it("what is swallowed stays silent; others, and new connections after healing, are served", async () => {
  const [lost, other] = [await openClient("reelkeep-lease 1"), await openClient()];
  await lost.mark("a");
  stack().database.swallow(/^reelkeep-lease/);
  let answered = false;
  const silent = lost.mark("b").finally(() => {
    answered = true;
  });
  await other.mark("c");
  expect(answered).toBe(false);
  expect(await marks()).toEqual(["a", "c"]);
  stack().heal();
  await expect(silent).rejects.toThrow();
  await (await openClient("reelkeep-lease 1")).mark("d");
  expect(await marks()).toEqual(["a", "c", "d"]);
});

it("refused clients get no connection, and slow answers arrive in order", async () => {
  stack().database.refuse(/^reelkeep-worker/);
  await expect(openClient()).rejects.toThrow();
  stack().heal();
  stack().database.slow(20);
  const { client } = await openClient();
  const { rows } = await client.query<{ n: number }>("select n from generate_series(1, 50000) as n");
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 50_000 }, (_, index) => index + 1));
});

it("cutAll breaks the connections of those whom it names", async () => {
  const [one, two] = [await openClient("reelkeep-lease 1"), await openClient()];
  await Promise.all([one.mark("a"), two.mark("b")]);
  stack().database.cutAll(/^reelkeep-lease/);
  await poll("it is cut", () => stack().database.connectionCount(/^reelkeep-lease/) === 0);
  expect(stack().database.connectionCount(/^reelkeep-worker/)).toBe(1);
});

it("the server keeps what it acknowledged over a kill, on the same port", async () => {
  const { mark } = await openClient();
  await mark("kept");
  await stack().postgresServer.kill();
  await expect(mark("never")).rejects.toThrow();
  await stack().postgresServer.start();
  await (await openClient()).mark("after");
  expect(await marks()).toEqual(["after", "kept"]);
});
