import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";

/** Any fixed number: whoever migrates this database holds the advisory lock of this name. */
const migrationLock = 7_233_538_001;

/**
 * Brings the database to the newest schema. May be called by several processes at once: they take turns, since
 * drizzle's own migrator fails when two run on an empty database.
 *
 * @param folder where the migrations lie; given by bundles, which don't lie beside them.
 */
export async function migrate(
  databaseUrl: string,
  folder = fileURLToPath(new URL("./migrations", import.meta.url)),
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "reelkeep-migrate" });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    await applyMigrations(drizzle(client), { migrationsFolder: folder });
  } finally {
    await client.end();
  }
}
