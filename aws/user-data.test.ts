import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { userDataFor, workerEnvFile } from "./user-data.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "reelkeep-user-data-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the script here, where `shutdown` only notes how it was called. */
async function boot(bootScript: string, env: Readonly<Record<string, string>>) {
  const file = path.join(folder, "etc/worker.env");
  const shutdowns = path.join(folder, "shutdowns");
  await rm(shutdowns, { force: true });
  const noted = `shutdown() { echo "$@" >> ${shutdowns}; }\n`;
  const script = userDataFor({ bootScript, env, lifetimeMinutes: 150 }).replaceAll(workerEnvFile, file);
  const run = promisify(execFile)("bash", ["-c", noted + script]);
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return {
    file,
    stdout,
    shutdowns: (await readFile(shutdowns, "utf8")).trim().split("\n"),
    written: await readFile(file, "utf8").catch(() => null),
  };
}

describe("a machine's first boot", () => {
  it("J9 writes the worker's variables as they are, for root alone, then goes on with the boot script", async () => {
    const env = { ACTION_KEY: "k", ODD: `$(touch ${folder}/bad) "\`id\`" 'a=b' \\n END-OF-WORKER-ENV` };
    const { stdout, written, file } = await boot(`cat ${workerEnvFile}; echo booted`, env);
    const lines = `ACTION_KEY=k\nODD=${env.ODD}\n`;
    expect(stdout).toBe(`${lines}booted\n`);
    expect(written).toBe(lines);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["ends", "true"],
    ["fails", "false; echo never"],
    ["is broken", "no-such-command"],
  ])(
    "J4 the machine shuts down when its boot script %s, and after its lifetime in any case",
    async (_, script) => {
      const { shutdowns, stdout } = await boot(script, {});
      expect(shutdowns).toEqual(["-h +150", "-h now"]);
      expect(stdout).toBe("");
    },
  );

  it.each([
    ["NAME", "two\nlines"],
    ["NAME", "a\0zero"],
    ["NAME=x", "equals"],
    ["a b", "space"],
  ])("J9 a variable that would become another line is refused: %j %j", (name, value) => {
    expect(() => handOn({ [name]: value })).toThrow("can't be handed to a worker");
  });

  it.each([
    ["DATABASE_URL", "postgres://host/db"],
    ["S3_SECRET_ACCESS_KEY", "x"],
    ["S3_ACCESS_KEY_ID", "x"],
    ["EVENTS_TOKEN", "x"],
    ["STORE", "postgres://reelkeep:word@host/db"],
  ])("J9 a secret is refused, because whoever may describe the machine can read it: %s", (name, value) => {
    expect(() => handOn({ [name]: value })).toThrow("is a secret");
  });
});

const handOn = (env: Readonly<Record<string, string>>) =>
  userDataFor({ bootScript: "", env, lifetimeMinutes: 120 });
