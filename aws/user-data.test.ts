import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
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

describe("a machine's first boot", () => {
  it("J9 writes the worker's variables as they are, then goes on with the boot script", async () => {
    const env = { ACTION_KEY: "k", ODD: `$(touch ${folder}/bad) "\`id\`" 'a=b' \\n END-OF-WORKER-ENV` };
    const file = path.join(folder, "etc/worker.env");
    const script = userDataFor(`cat ${workerEnvFile}; echo booted`, env).replaceAll(workerEnvFile, file);
    const { stdout } = await promisify(execFile)("bash", ["-c", script]);
    const lines = `ACTION_KEY=k\nODD=${env.ODD}\n`;
    expect(stdout).toBe(`${lines}booted\n`);
    expect(await readFile(file, "utf8")).toBe(lines);
  });

  it.each([
    ["NAME", "two\nlines"],
    ["NAME", "a\0zero"],
    ["NAME=x", "equals"],
    ["a b", "space"],
  ])("J9 a variable that would become another line is refused: %j %j", (name, value) => {
    expect(() => userDataFor("", { [name]: value })).toThrow("can't be handed to a worker");
  });
});
