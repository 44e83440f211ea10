import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startService } from "./child.ts";
import { temporaryFolder } from "./testing/folder.ts";

/** A service that notes the process id of each of its lives, and lives until it is told to end. */
const longLived = `
  const { appendFileSync } = require("node:fs");
  appendFileSync(process.env.LIVES, process.pid + "\\n");
  process.on("disconnect", () => process.exit());
  process.send("ready");
`;

async function start(script: string) {
  const folder = temporaryFolder();
  const [file, lives] = [path.join(folder, "service.cjs"), path.join(folder, "lives")];
  writeFileSync(file, script);
  writeFileSync(lives, "");
  const givenUp: string[] = [];
  const service = await startService(
    { name: "storage", script: file, env: { LIVES: lives }, logFile: path.join(folder, "storage.log") },
    (message) => givenUp.push(message),
  );
  onTestFinished(() => service.stop());
  const pids = () => readFileSync(lives, "utf8").trim().split("\n").filter(Boolean).map(Number);
  return { service, pids, givenUp };
}

it("a service that ends by itself, or is killed, is started again; stopped, it isn't", async () => {
  const { service, pids, givenUp } = await start(longLived);
  for (const lives of [1, 2]) {
    process.kill(pids().at(-1)!, "SIGKILL");
    await expect.poll(() => pids().length).toBe(lives + 1);
  }
  await service.stop();
  expect(() => process.kill(pids().at(-1)!, 0)).toThrow("ESRCH");
  expect(pids()).toHaveLength(3);
  expect(givenUp).toEqual([]);
});

it("a service that ends again and again is given up, with a sentence", async () => {
  const { pids, givenUp } = await start(`${longLived} setTimeout(() => process.exit(1), 20);`);
  await expect.poll(() => givenUp, { timeout: 20_000 }).toEqual(["The storage ends again and again."]);
  expect(pids()).toHaveLength(6);
});

it("a service that doesn't start says so with the end of its log", async () => {
  await expect(start('console.error("no such disk"); process.exit(1);')).rejects.toThrow(
    /The storage doesn't start\..*no such disk/s,
  );
});
