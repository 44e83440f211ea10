/** The whole product on one machine: what AWS's services do in production, as processes below one supervisor. */
import { chmodSync, mkdirSync } from "node:fs";
import path from "node:path";
import { ensureBucket } from "@reelkeep/aws/bucket";
import { openDatabase } from "@reelkeep/db/client";
import { migrate } from "@reelkeep/db/migrate";
import { outboxChannel } from "@reelkeep/db/outbox";
import { ownerExists } from "@reelkeep/db/users";
import pino from "pino";
import { bundle, bundlePath } from "./bundle.ts";
import { startCdn } from "./cdn/server.ts";
import { startService } from "./child.ts";
import { createControl } from "./control.ts";
import { createEnvironment } from "./environment.ts";
import { startEventsEndpoint } from "./events-endpoint.ts";
import { createLocalFleet } from "./fleet.ts";
import { openLogFile } from "./log-file.ts";
import { namingPort, settlePorts } from "./ports.ts";
import { createDatabase } from "./postgres/databases.ts";
import { startPostgres } from "./postgres/server.ts";
import { openStackSession } from "./postgres/session.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { repositoryRoot } from "./repository.ts";
import { type Schedule, startSchedule } from "./schedule.ts";
import { keptSecrets } from "./secrets.ts";
import type { LocalSettings } from "./settings.ts";

/** A running stack. */
export interface Stack {
  /** The dashboard's address. */
  readonly url: string;
  readonly mediaUrl: string;
  readonly storageUrl: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** What makes the first account the owner's; null once there is an owner. */
  readonly ownerCode: string | null;
  /** Settles with a sentence when a part has ended and can't be brought back: the stack is to be stopped. */
  readonly failed: Promise<string>;
  /** Ends all parts in order. The data stays. */
  stop(): Promise<void>;
}

/**
 * Starts every part in order and stops those that run already where one fails.
 *
 * @param settings ports of 0 take free ones.
 * @param dev serves the site in development mode, and workers from sources as they are at their launch.
 * @throws Error in plain words.
 */
export async function startStack(
  settings: LocalSettings,
  { dev = false }: { dev?: boolean } = {},
): Promise<Stack> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    return { ...(await startParts(settings, dev, (end) => stops.push(end))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  wanted: LocalSettings,
  dev: boolean,
  onStop: (end: () => unknown) => void,
): Promise<Omit<Stack, "stop">> {
  const dataDir = wanted.REELKEEP_DATA_DIR;
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  // Root's database server has another account, which must get through; everything else in it has its own mode.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711);
  const secrets = keptSecrets(dataDir);
  const settings = await settlePorts(wanted);
  makePrivateFolder(path.join(dataDir, "logs"));
  const logFile = (name: string) => path.join(dataDir, "logs", `${name}.log`);
  let fail: (message: string) => void = () => {};
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });

  const postgres = await namingPort("REELKEEP_POSTGRES_PORT", () =>
    startPostgres({ dataDir: path.join(dataDir, "postgres"), port: settings.REELKEEP_POSTGRES_PORT }),
  );
  await createDatabase(postgres.url("postgres"), "reelkeep");
  const databaseUrl = postgres.url("reelkeep");
  let schedule: Schedule | undefined;
  const session = await openStackSession(databaseUrl, outboxChannel, () => schedule?.nudge());
  // Not earlier: the server that was found may have been another stack's.
  onStop(() => postgres.stop());
  onStop(() => session.close());
  void postgres.ended.then(fail);
  await migrate(databaseUrl, path.join(repositoryRoot, "db", "migrations"));
  const { db, close } = openDatabase(databaseUrl, { applicationName: "reelkeep-control" });
  onStop(close);

  const environment = createEnvironment({ settings, secrets, databaseUrl });
  const { storage, urls } = environment;
  const storageService = await startService(
    { name: "storage", script: bundlePath("s3"), env: environment.forStorage, logFile: logFile("storage") },
    fail,
  );
  onStop(() => storageService.stop());
  await ensureBucket(storage, [urls.app]);
  const cdn = await startCdn({
    host: "127.0.0.1",
    port: settings.REELKEEP_CDN_PORT,
    baseUrl: urls.media,
    storage,
    keys: { [secrets.cloudFrontKeyPairId]: secrets.cloudFrontPublicKeyPem },
    allowedOrigins: [urls.app],
  });
  onStop(() => cdn.close());

  const log = pino(pino.destination({ dest: openLogFile(logFile("control")), sync: true }));
  const fleet = createLocalFleet({
    script: bundlePath("worker"),
    dataDir,
    env: environment.forWorkers,
    onGone: () => schedule?.nudge(),
    ...(dev ? { beforeLaunch: bundle } : {}),
  });
  onStop(() => fleet.stopAll());
  const control = createControl({ db, storage, fleet, settings, log });
  const events = await startEventsEndpoint({
    port: settings.REELKEEP_EVENTS_PORT,
    token: secrets.eventsToken,
    onObjectCreated: control.onObjectCreated,
    onError: (err) => log.error({ err }, "an event of storage failed"),
  });
  onStop(() => events.close());
  schedule = startSchedule(control, log);
  onStop(() => schedule?.stop());

  const site = await startService(
    {
      name: "site",
      script: bundlePath("web"),
      env: { ...environment.forSite, NODE_ENV: dev ? "development" : "production" },
      logFile: logFile("site"),
    },
    fail,
  );
  onStop(() => site.stop());

  return {
    url: urls.app,
    mediaUrl: urls.media,
    storageUrl: urls.storage,
    databaseUrl,
    dataDir,
    ownerCode: (await ownerExists(db)) ? null : secrets.ownerCode,
    failed,
  };
}
