import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { migrate } from "@reelkeep/db/migrate";
import type { TestProject } from "vitest/node";
import { createDatabase } from "../postgres/databases.ts";
import { settingsWithoutDurability, startPostgres } from "../postgres/server.ts";
import { endWithThisProcess } from "./watchdog.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Names the database `postgres` of the run's server. */
    postgresUrl: string;
    /** A database with every migration, to make copies of. */
    templateDatabase: string;
  }
}

/** Starts one PostgreSQL for the whole run, with a migrated database that each test file copies. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "reelkeep-test-"));
  chmodSync(dataDir, 0o711);
  const server = await startPostgres({ dataDir, settings: settingsWithoutDurability });
  const watchdog = endWithThisProcess(dataDir);
  const tearDown = async () => {
    await server.stop();
    watchdog.kill();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const template = "reelkeep_template";
    await createDatabase(server.url("postgres"), template);
    await migrate(server.url(template));
    project.provide("postgresUrl", server.url("postgres"));
    project.provide("templateDatabase", template);
  } catch (error) {
    await tearDown();
    throw error;
  }
  return tearDown;
}
