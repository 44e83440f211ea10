import { chmod, rm, stat } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { openStore } from "./store.ts";
import { newDataDir } from "./testing/test-storage.ts";

it("nobody else enters the folder of the objects, whatever its mode was", async () => {
  const dataDir = await newDataDir();
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  await chmod(dataDir, 0o755);
  const store = await openStore({ dataDir, region: "us-east-1" });
  await store.close();
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});
