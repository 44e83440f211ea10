import pg from "pg";

/**
 * Makes an empty database, or a copy of `template`. Nothing happens where it is there already.
 *
 * @param serverUrl names another database of the same server.
 */
export async function createDatabase(
  serverUrl: string,
  name: string,
  { template }: { template?: string } = {},
): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
    if (rowCount) return;
    const copy = template ? ` template ${pg.escapeIdentifier(template)}` : "";
    await client.query(`create database ${pg.escapeIdentifier(name)}${copy}`);
  });
}

/** Ends the sessions of a database and removes it. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
  });
}

async function withClient(url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
