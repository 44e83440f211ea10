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

/** Above statement_timeout: a server that is there answers first. */
const queryTimeoutMs = 35_000;
const statementTimeoutMs = 30_000;
const connectTimeoutMs = 10_000;
const closeTimeoutMs = 2000;

/**
 * Opens a pool. Connections are made when they are needed; a database that is away shows at the first query. A
 * database that is there but silent (a lost network path closes no connection) shows as a query that fails in time.
 *
 * @param connectionsMax how many at once; workers need two, the web server more.
 * @param applicationName what `pg_stat_activity` shows, so that whoever is on call sees who holds a lock.
 * @param queryTimeoutMs how long one query may take, seen from here, and at most ten seconds a connection.
 */
export function openDatabase(
  url: string,
  options: { connectionsMax?: number; applicationName?: string; queryTimeoutMs?: number } = {},
): OpenDatabase {
  const timeoutMs = options.queryTimeoutMs ?? queryTimeoutMs;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connectionsMax ?? 10,
    application_name: options.applicationName ?? "reelkeep",
    connectionTimeoutMillis: Math.min(connectTimeoutMs, timeoutMs),
    query_timeout: timeoutMs,
    keepAlive: true,
    idleTimeoutMillis: 30_000,
    // A transaction of ours never waits on the network, so one that idles is a fault that would hold locks.
    idle_in_transaction_session_timeout: 30_000,
    statement_timeout: statementTimeoutMs,
  });
  // A broken idle connection is replaced at the next query; without a listener it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    // The same for one in a transaction: node-postgres tells the loss to the query and, once more, as an event.
    client.on("error", () => {});
    loseBrokenConnection(client);
  });
  return { db: drizzle(pool), close: () => closeWithin(pool) };
}

/**
 * Makes the pool lose connections that drizzle's transactions would keep for good: one whose `begin` failed, which
 * drizzle never gives back; and one whose query got no answer in time, on which it would wait for a rollback as long
 * again and then give it back as if it were sound.
 */
function loseBrokenConnection(client: pg.PoolClient): void {
  const query = client.query as (...words: unknown[]) => unknown;
  client.query = ((...words: unknown[]) => {
    const answer = query.apply(client, words);
    if (answer instanceof Promise)
      answer.catch((error: Error) => {
        if (/^begin\b/.test((words[0] as pg.QueryConfig).text)) client.release(error);
        // node-postgres gives this failure no code.
        else if (error.message === "Query read timeout") void (client as pg.Client & pg.PoolClient).end();
      });
    return answer;
  }) as pg.PoolClient["query"];
}

/** A server that is gone confirms no goodbye. */
async function closeWithin(pool: pg.Pool): Promise<void> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, closeTimeoutMs).unref());
  await Promise.race([pool.end(), late]);
}
