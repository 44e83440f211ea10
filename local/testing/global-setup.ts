import { migrate } from "@reelkeep/db/migrate";
import type { TestProject } from "vitest/node";
import { createDatabase } from "../postgres/databases.ts";
import { settingsWithoutDurability, startPostgres } from "../postgres/server.ts";
import { startOnTemporaryData } from "./temporary-data.ts";

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
  const template = "reelkeep_template";
  const { server, stop } = await startOnTemporaryData(async (dataDir, onStop) => {
    const server = await startPostgres({ dataDir, settings: settingsWithoutDurability });
    onStop(() => server.stop());
    await createDatabase(server.url("postgres"), template);
    await migrate(server.url(template));
    return { server };
  });
  project.provide("postgresUrl", server.url("postgres"));
  project.provide("templateDatabase", template);
  return stop;
}
