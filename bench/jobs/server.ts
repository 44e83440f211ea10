import path from "node:path";
import { migrate } from "@reelkeep/db/migrate";
import { createDatabase } from "../../local/postgres/databases.ts";
import { startPostgres } from "../../local/postgres/server.ts";
import { startOnTemporaryData } from "../../local/testing/temporary-data.ts";

/** A real PostgreSQL of a benchmark's own. */
export interface BenchServer {
  /** A new database with the real migrations. Answers its address. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts one with the local stack's settings, apart from `settings`. */
export const startBenchServer = (settings: Readonly<Record<string, string>> = {}): Promise<BenchServer> =>
  startOnTemporaryData(async (dataDir, onStop) => {
    const server = await startPostgres({ dataDir: path.join(dataDir, "postgres"), settings });
    onStop(() => server.stop());
    return {
      async database(name: string) {
        await createDatabase(server.url("postgres"), name);
        await migrate(server.url(name));
        return server.url(name);
      },
    };
  });
