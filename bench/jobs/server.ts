import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { migrate } from "@reelkeep/db/migrate";
import { createDatabase } from "../../local/postgres/databases.ts";
import { startPostgres } from "../../local/postgres/server.ts";
import { endWithThisProcess } from "../../local/testing/watchdog.ts";

/** A real PostgreSQL of a benchmark's own. */
export interface BenchServer {
  /** A new database with the real migrations. Answers its address. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts one with the local stack's settings, apart from `settings`. */
export async function startBenchServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "reelkeep-bench-"));
  // Root's server has another account, which must get through.
  chmodSync(dataDir, 0o711);
  const watchdog = endWithThisProcess(dataDir);
  const server = await startPostgres({ dataDir: path.join(dataDir, "postgres"), settings });
  return {
    async database(name) {
      await createDatabase(server.url("postgres"), name);
      await migrate(server.url(name));
      return server.url(name);
    },
    async stop() {
      await server.stop();
      watchdog.kill();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
