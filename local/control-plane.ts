/** What on AWS are Lambda functions, schedules and machines: what acts on the stores by itself. */
import { type Database, openDatabase } from "@reelkeep/db/client";
import pino from "pino";
import { bundlePath } from "./bundle.ts";
import { type Control, createControl } from "./control.ts";
import { startEventsEndpoint } from "./events-endpoint.ts";
import { createLocalFleet } from "./fleet.ts";
import { openLogFile } from "./log-file.ts";
import { startSchedule } from "./schedule.ts";
import type { Stores } from "./stores.ts";

/** A running control plane. */
export interface ControlPlane {
  readonly db: Database;
  readonly control: Control;
  /** There may be something to dispatch. */
  nudge(): void;
}

/**
 * Starts what hears storage's events, dispatches, sweeps and launches workers.
 *
 * @param parts where the stores are for these parts; `beforeLaunch` is awaited before each launch. Another fleet or
 * schedule than the local ones may be given.
 */
export async function startControlPlane(
  parts: Pick<Stores, "settings" | "secrets" | "databaseUrl" | "environment" | "logFile"> & {
    onStop: (end: () => unknown) => void;
    beforeLaunch?: () => Promise<void>;
    createFleet?: typeof createLocalFleet;
    startSchedule?: typeof startSchedule;
  },
): Promise<ControlPlane> {
  const { settings, environment, onStop } = parts;
  const { db, close } = openDatabase(parts.databaseUrl, { applicationName: "reelkeep-control" });
  onStop(close);
  const log = pino(pino.destination({ dest: openLogFile(parts.logFile("control")), sync: true }));
  let nudge = () => {};
  const fleet = (parts.createFleet ?? createLocalFleet)({
    script: bundlePath("worker"),
    dataDir: settings.REELKEEP_DATA_DIR,
    env: environment.forWorkers,
    usdPerHour: settings.WORKER_USD_PER_HOUR,
    onGone: () => nudge(),
    ...(parts.beforeLaunch ? { beforeLaunch: parts.beforeLaunch } : {}),
  });
  onStop(() => fleet.stopAll());
  const control = createControl({ db, storage: environment.storage, fleet, settings, log });
  const events = await startEventsEndpoint({
    port: settings.REELKEEP_EVENTS_PORT,
    token: parts.secrets.eventsToken,
    onObjectCreated: control.onObjectCreated,
    onError: (err) => log.error({ err }, "an event of storage failed"),
  });
  onStop(() => events.close());
  const schedule = (parts.startSchedule ?? startSchedule)(control, log);
  nudge = schedule.nudge;
  onStop(() => schedule.stop());
  return { db, control, nudge };
}
