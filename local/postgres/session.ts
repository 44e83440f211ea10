import pg from "pg";

/** Any fixed number: whoever runs a stack on this database holds the advisory lock of this name. */
const stackLock = 7_233_538_002;

/** A connection that stays open for as long as the stack runs. */
export interface StackSession {
  close(): Promise<void>;
}

/**
 * Takes the place of the one stack on this data, and listens. The lock is a session's, so it ends with the process
 * that holds it, however that ends; no stale file can keep the next start away.
 *
 * @param onNotify called for each message on `channel`, and when the connection is lost (a message may be missing).
 * @throws Error where another stack holds the place.
 */
export async function openStackSession(
  databaseUrl: string,
  channel: string,
  onNotify: () => void,
): Promise<StackSession> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "reelkeep-stack",
    keepAlive: true,
  });
  client.on("error", onNotify);
  client.on("notification", onNotify);
  await client.connect();
  const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [stackLock]);
  if (!rows[0]?.taken) {
    await client.end();
    throw new Error("Reelkeep already runs on this data folder. Stop it first, or set REELKEEP_DATA_DIR.");
  }
  await client.query(`listen ${pg.escapeIdentifier(channel)}`);
  return { close: () => client.end() };
}
