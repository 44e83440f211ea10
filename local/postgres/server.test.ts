import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../testing/folder.ts";
import { isAlive } from "./postmaster.ts";
import { type PostgresServer, startPostgres } from "./server.ts";

async function started(dataDir: string): Promise<PostgresServer> {
  const server = await startPostgres({ dataDir });
  onTestFinished(() => server.stop());
  return server;
}

async function query(server: PostgresServer, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url("postgres") });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

it("a server answers as PostgreSQL 17, keeps its data over a stop, and leaves no process", async () => {
  const dataDir = temporaryFolder();
  const first = await started(dataDir);
  await query(first, "create table kept (word text)", "insert into kept values ('här')");
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  expect(existsSync(path.join(dataDir, "server", "cluster"))).toBe(true);
  const second = await started(dataDir);
  expect(
    await query(
      second,
      "select upper(word) as word, current_setting('server_version_num')::int / 10000 as v from kept",
    ),
  ).toEqual([{ word: "HÄR", v: 17 }]);
  expect(await query(second, "show fsync")).toEqual([{ fsync: "on" }]);
});

it("rows acknowledged before a kill -9 of the server are there after the next start", async () => {
  const dataDir = temporaryFolder();
  const first = await started(dataDir);
  await query(first, "create table kept (n int)", "insert into kept select generate_series(1, 500)");
  process.kill(first.pid, "SIGKILL");
  await first.ended;
  const second = await started(dataDir);
  expect(await query(second, "select count(*)::int as n from kept")).toEqual([{ n: 500 }]);
});

it("a server that outlives its killed parent is found again, not started twice", async () => {
  const dataDir = temporaryFolder();
  const script = `
    const { startPostgres } = await import(${JSON.stringify(path.join(import.meta.dirname, "server.ts"))});
    const server = await startPostgres({ dataDir: ${JSON.stringify(dataDir)} });
    console.log(server.pid);
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(parent.stdout, "data");
  const pid = Number(String(line));
  parent.kill("SIGKILL");
  await once(parent, "exit");

  const server = await started(dataDir);
  expect(server.pid).toBe(pid);
  expect(await query(server, "select 1 as one")).toEqual([{ one: 1 }]);
  await server.stop();
  expect(await server.ended).toMatch(/has ended/);
});

it("the password lies in a file that others can't read, and a wrong one is refused", async () => {
  const dataDir = temporaryFolder();
  const server = await started(dataDir);
  expect(statSync(path.join(dataDir, "password")).mode & 0o777).toBe(0o600);
  const stranger = new pg.Client({ connectionString: server.url("postgres").replace(/:[^:@]+@/, ":wrong@") });
  await expect(stranger.connect()).rejects.toThrow(/password authentication failed/);
});

it.runIf(process.getuid?.() === 0)("root's server works from a folder that only root can enter", async () => {
  const closed = mkdtempSync(path.join(tmpdir(), "reelkeep-closed-"));
  const dataDir = path.join(closed, "postgres");
  onTestFinished(() => {
    rmSync(readFileSync(path.join(dataDir, "location"), "utf8"), { recursive: true, force: true });
    rmSync(closed, { recursive: true, force: true });
  });
  const first = await started(dataDir);
  await query(first, "create table kept (n int)");
  await first.stop();
  const second = await started(dataDir);
  expect(await query(second, "select count(*)::int as n from kept")).toEqual([{ n: 0 }]);
  expect(existsSync(path.join(dataDir, "server"))).toBe(false);
});

it("the end of a server is told even when its folder was removed before", async () => {
  const dataDir = temporaryFolder();
  const server = await started(dataDir);
  rmSync(path.join(dataDir, "postgres.log"));
  process.kill(server.pid, "SIGKILL");
  expect(await server.ended).toContain("PostgreSQL has ended (SIGKILL)");
});
