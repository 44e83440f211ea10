import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";

/** A pool of connections with drizzle on top. */
export type Database = NodePgDatabase;
/** What a query runs on: the pool, or a transaction of it. */
export type Executor = Pick<
  Database,
  "select" | "insert" | "update" | "delete" | "execute" | "$with" | "with"
>;
/** A transaction: queries that must see or take row locks ask for this type. */
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

export interface OpenDatabase {
  readonly db: Database;
  close(): Promise<void>;
}

/**
 * Opens a pool. Connections are made when they are needed; a database that is away shows at the first query.
 *
 * @param connectionsMax how many at once; workers need two, the web server more.
 * @param applicationName what `pg_stat_activity` shows, so that whoever is on call sees who holds a lock.
 */
export function openDatabase(
  url: string,
  options: { connectionsMax?: number; applicationName?: string } = {},
): OpenDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connectionsMax ?? 10,
    application_name: options.applicationName ?? "reelkeep",
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    // A transaction of ours never waits on the network, so one that idles is a fault that would hold locks.
    idle_in_transaction_session_timeout: 30_000,
    statement_timeout: 30_000,
  });
  // A broken idle connection is replaced at the next query; without a listener it would end the process.
  pool.on("error", () => {});
  return { db: drizzle(pool), close: () => pool.end() };
}
