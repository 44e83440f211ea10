import type { Database } from "@reelkeep/db/client";
import { startControlPlane } from "../local/control-plane.ts";
import { createLocalFleet, type LocalFleet } from "../local/fleet.ts";
import { type Schedule, startSchedule } from "../local/schedule.ts";
import { type LocalSettings, readSettings } from "../local/settings.ts";
import { type Stores, startStores } from "../local/stores.ts";
import { type OnStop, startOnTemporaryData } from "../local/testing/temporary-data.ts";

/** The local stack's own stores, control plane and workers, without the site, in a temporary folder. */
export interface BenchStack {
  readonly dataDir: string;
  readonly stores: Stores;
  readonly db: Database;
  readonly fleet: LocalFleet;
  /** Starts dispatches and sweeps. Storage's events are admitted before, too. */
  begin(): void;
  /** Is rejected when a store has ended and can't be brought back. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** As environment variables of `npm start`. */
export type WantedSettings = Partial<Record<keyof LocalSettings, string>>;

export const startBenchStack = (wanted: WantedSettings = {}): Promise<BenchStack> =>
  startOnTemporaryData((dataDir, onStop) => startParts(dataDir, wanted, onStop));

async function startParts(
  dataDir: string,
  wanted: WantedSettings,
  onStop: OnStop,
): Promise<Omit<BenchStack, "dataDir" | "stop">> {
  const settings = readSettings({
    REELKEEP_DATA_DIR: dataDir,
    REELKEEP_PORT: "0",
    REELKEEP_CDN_PORT: "0",
    REELKEEP_S3_PORT: "0",
    REELKEEP_POSTGRES_PORT: "0",
    REELKEEP_EVENTS_PORT: "0",
    ...wanted,
  });
  let onFailed: (message: string) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    onFailed = (message) => reject(new Error(message));
  });
  // What ends because it is stopped has not failed.
  failed.catch(() => {});
  let schedule: Schedule | undefined;
  const nudge = () => schedule?.nudge();
  const stores = await startStores(settings, { onStop, onFailed, onOutbox: nudge });
  let fleet!: LocalFleet;
  let begin = () => {};
  const { db } = await startControlPlane({
    ...stores,
    onStop,
    createFleet: (options) => {
      fleet = createLocalFleet(options);
      return fleet;
    },
    startSchedule: (...parts) => {
      begin = () => {
        schedule = startSchedule(...parts);
      };
      return { nudge, stop: async () => schedule?.stop() };
    },
  });
  return { stores, db, fleet, begin, failed };
}
