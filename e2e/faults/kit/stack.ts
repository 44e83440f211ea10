/** The local stack's own stores and control plane, with a proxy on every way between them. */
import { createObjectStore, type ObjectStore } from "@reelkeep/aws/object-store";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import type { WorkerFleet } from "@reelkeep/aws/worker-fleet";
import { type Database, openDatabase } from "@reelkeep/db/client";
import type { Control } from "@reelkeep/local/control";
import { startControlPlane } from "@reelkeep/local/control-plane";
import { createLocalFleet, type LocalFleet } from "@reelkeep/local/fleet";
import { requireFreePort } from "@reelkeep/local/ports";
import { type LocalSettings, readSettings } from "@reelkeep/local/settings";
import { startStores } from "@reelkeep/local/stores";
import { type OnStop, startOnTemporaryData } from "@reelkeep/local/testing/temporary-data";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type EventsGate, startEventsGate } from "./events-gate.ts";
import { type PausableSchedule, pausableSchedule } from "./pausable-schedule.ts";
import { type PostgresProxy, startPostgresProxy } from "./postgres-proxy.ts";
import {
  type PostgresServerControl,
  postgresServerControl,
  type StorageServerControl,
  storageServerControl,
} from "./servers.ts";
import { createSite, type Site } from "./site.ts";
import { type StorageProxy, startStorageProxy } from "./storage-proxy.ts";

export interface FaultStackOptions {
  /** As environment variables of `npm start`; over those of {@link quickSettings}. */
  readonly settings?: Partial<Record<keyof LocalSettings, string>>;
  /** More variables for workers: NODE_OPTIONS, STALL_SECONDS … */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Stands between the dispatcher and the real fleet: refuses, forgets, answers late. */
  readonly fleet?: (real: LocalFleet) => WorkerFleet;
  /** Begins without sweeps and dispatches; `schedule.resume()` starts them. */
  readonly paused?: boolean;
}

export interface FaultStack {
  /** The way of workers, control and site to the database. */
  readonly database: PostgresProxy;
  /** The way of workers, control, site and browsers to the storage. */
  readonly storage: StorageProxy;
  /** The way of storage's events to control. */
  readonly events: EventsGate;
  /** The servers behind the proxies. */
  readonly postgresServer: PostgresServerControl;
  readonly storageServer: StorageServerControl;
  /** For looking: past the proxies. */
  readonly db: Database;
  readonly store: ObjectStore;
  readonly bucket: StorageConfig;
  readonly control: Control;
  readonly schedule: PausableSchedule;
  /** The real one, also where options put another before it. */
  readonly fleet: LocalFleet;
  /** What the site does for people, with one creator signed in. */
  readonly site: Site;
  readonly settings: LocalSettings;
  readonly dataDir: string;
  /** Takes away all faults on all ways. */
  heal(): void;
  stop(): Promise<void>;
}

/** Everything on free ports, and times short enough to wait for. */
const quickSettings = {
  REELKEEP_PORT: "0",
  REELKEEP_CDN_PORT: "0",
  REELKEEP_S3_PORT: "0",
  REELKEEP_POSTGRES_PORT: "0",
  REELKEEP_EVENTS_PORT: "0",
  LEASE_SECONDS: "4",
  RETRY_BACKOFF_SECONDS: "1",
  WORKERS_MAX: "2",
};

/** Starts a stack of a test's own in a temporary folder, in about two seconds. */
export const startFaultStack = (options: FaultStackOptions = {}): Promise<FaultStack> =>
  startOnTemporaryData((dataDir, onStop) => startParts(options, dataDir, onStop));

async function startParts(
  options: FaultStackOptions,
  dataDir: string,
  onStop: OnStop,
): Promise<Omit<FaultStack, "dataDir" | "stop">> {
  const wanted = readSettings({ ...quickSettings, ...options.settings, REELKEEP_DATA_DIR: dataDir });
  let nudge = () => {};
  const stores = await startStores(wanted, { onStop, onFailed: () => {}, onOutbox: () => nudge() });
  const postgresServer = postgresServerControl(stores.postgres, dataDir);
  onStop(() => postgresServer.stop());
  const database = await startPostgresProxy(stores.databaseUrl);
  const storage = await startStorageProxy(stores.environment.storage.endpoint!);
  const eventsPort = await requireFreePort(0);
  const events = await startEventsGate(stores.settings.REELKEEP_EVENTS_PORT, eventsPort);
  onStop(() => Promise.all([database.close(), storage.close(), events.close()]));

  let fleet: LocalFleet | undefined;
  const schedule = pausableSchedule(options.paused ?? false);
  const real = stores.environment;
  const plane = await startControlPlane({
    ...stores,
    settings: { ...stores.settings, REELKEEP_EVENTS_PORT: eventsPort },
    databaseUrl: database.url,
    environment: {
      ...real,
      storage: { ...real.storage, endpoint: storage.url("control") },
      forWorkers: {
        ...real.forWorkers,
        DATABASE_URL: database.url,
        S3_ENDPOINT: storage.url("workers"),
        ...options.workerEnv,
      },
    },
    onStop,
    createFleet: (fleetOptions) => {
      fleet = createLocalFleet(fleetOptions);
      return { ...fleet, ...options.fleet?.(fleet) };
    },
    startSchedule: schedule.start,
  });
  nudge = plane.nudge;

  const { db, close } = openDatabase(stores.databaseUrl, { applicationName: "reelkeep-test" });
  onStop(close);
  const site = await createSite({ stores, database, storage });
  onStop(site.close);
  const heal = () => {
    database.heal();
    storage.heal();
    events.heal();
  };
  // Ends first: what is held would keep the others waiting.
  onStop(heal);
  return {
    database,
    storage,
    events,
    postgresServer,
    storageServer: storageServerControl(stores.settings.REELKEEP_S3_PORT),
    db,
    store: createObjectStore(real.storage),
    bucket: real.storage,
    control: plane.control,
    schedule,
    fleet: fleet!,
    site,
    settings: stores.settings,
    heal,
  };
}

/** One stack for a test file; faults that a test leaves are taken away after it. */
export function startFaultStackForFile(options: FaultStackOptions = {}): () => FaultStack {
  let stack: FaultStack | undefined;
  beforeAll(async () => {
    stack = await startFaultStack(options);
  });
  afterEach(async () => {
    stack?.heal();
    await stack?.schedule.restore();
  });
  afterAll(() => stack?.stop());
  return () => stack!;
}
