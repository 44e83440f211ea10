/** What is kept: PostgreSQL and the storage, each a process of its own, on the data folder of one stack. */
import { chmodSync, mkdirSync } from "node:fs";
import path from "node:path";
import { ensureBucket } from "@reelkeep/aws/bucket";
import { migrate } from "@reelkeep/db/migrate";
import { outboxChannel } from "@reelkeep/db/outbox";
import { bundlePath } from "./bundle.ts";
import { startService } from "./child.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import { namingPort, settlePorts } from "./ports.ts";
import { createDatabase } from "./postgres/databases.ts";
import { type PostgresServer, startPostgres } from "./postgres/server.ts";
import { openStackSession } from "./postgres/session.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { repositoryRoot } from "./repository.ts";
import { keptSecrets, type Secrets } from "./secrets.ts";
import type { LocalSettings } from "./settings.ts";

/** Where the stores are, and what else is known once they run. */
export interface Stores {
  /** With real ports in place of zeros. */
  readonly settings: LocalSettings;
  readonly secrets: Secrets;
  readonly databaseUrl: string;
  readonly environment: Environment;
  readonly postgres: PostgresServer;
  /** The log of a part, below the data folder. */
  logFile(name: string): string;
}

/**
 * Starts the database's server and the storage. The database has its migrations and the bucket its rules when this
 * answers.
 *
 * @param life takes what is to be ended, in reverse order; hears a sentence when a part can't be brought back; and
 * is told that there may be something in the outbox.
 * @throws Error in plain words; where another stack runs on this data, too.
 */
export async function startStores(
  wanted: LocalSettings,
  life: {
    onStop: (end: () => unknown) => void;
    onFailed: (message: string) => void;
    onOutbox: () => void;
  },
): Promise<Stores> {
  const dataDir = wanted.REELKEEP_DATA_DIR;
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  // Root's database server has another account, which must get through; everything else in it has its own mode.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711);
  const secrets = keptSecrets(dataDir);
  const settings = await settlePorts(wanted);
  makePrivateFolder(path.join(dataDir, "logs"));
  const logFile = (name: string) => path.join(dataDir, "logs", `${name}.log`);

  const postgres = await namingPort("REELKEEP_POSTGRES_PORT", () =>
    startPostgres({ dataDir: path.join(dataDir, "postgres"), port: settings.REELKEEP_POSTGRES_PORT }),
  );
  await createDatabase(postgres.url("postgres"), "reelkeep");
  const databaseUrl = postgres.url("reelkeep");
  const session = await openStackSession(databaseUrl, outboxChannel, life.onOutbox);
  // Not earlier: the server that was found may have been another stack's.
  life.onStop(() => postgres.stop());
  life.onStop(() => session.close());
  void postgres.ended.then(life.onFailed);
  await migrate(databaseUrl, path.join(repositoryRoot, "db", "migrations"));

  const environment = createEnvironment({ settings, secrets, databaseUrl });
  const storage = await startService(
    { name: "storage", script: bundlePath("s3"), env: environment.forStorage, logFile: logFile("storage") },
    life.onFailed,
  );
  life.onStop(() => storage.stop());
  await ensureBucket(environment.storage, [environment.urls.app]);
  return { settings, secrets, databaseUrl, environment, postgres, logFile };
}
