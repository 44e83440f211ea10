import { statSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { settlePorts } from "./ports.ts";
import { keptSecrets } from "./secrets.ts";
import { readSettings } from "./settings.ts";
import { temporaryFolder } from "./testing/folder.ts";

it("settings have defaults, and an empty variable counts as unset", () => {
  expect(readSettings({ REELKEEP_PORT: "" })).toMatchObject({ REELKEEP_PORT: 3000, WORKERS_MAX: 1 });
});

it("a variable that can't be read is named", () => {
  expect(() => readSettings({ REELKEEP_PORT: "abc" })).toThrow(/REELKEEP_PORT/);
});

it("a taken port is told with the variable that chooses another", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const settings = readSettings({
    REELKEEP_PORT: "0",
    REELKEEP_CDN_PORT: String(port),
    REELKEEP_S3_PORT: "0",
    REELKEEP_EVENTS_PORT: "0",
  });
  await expect(settlePorts(settings)).rejects.toThrow(
    new RegExp(`Port ${port} is taken.* REELKEEP_CDN_PORT=${port + 1000} npm start`),
  );
});

it("secrets are made once and lie in a file that others can't read", () => {
  const dataDir = temporaryFolder();
  const first = keptSecrets(dataDir);
  expect(keptSecrets(dataDir)).toEqual(first);
  expect(statSync(path.join(dataDir, "secrets.json")).mode & 0o777).toBe(0o600);
  expect(first.ownerCode).toMatch(/^[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}$/);
});
