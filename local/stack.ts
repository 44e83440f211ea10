/** The whole product on one machine: what AWS's services do in production, as processes below one supervisor. */
import { ownerExists } from "@reelkeep/db/users";
import { bundle, bundlePath } from "./bundle.ts";
import { startCdn } from "./cdn/server.ts";
import { startService } from "./child.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import type { LocalSettings } from "./settings.ts";
import { startStores } from "./stores.ts";

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
  let fail: (message: string) => void = () => {};
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });

  let plane: ControlPlane | undefined;
  const stores = await startStores(wanted, { onStop, onFailed: fail, onOutbox: () => plane?.nudge() });
  const { settings, secrets, environment, databaseUrl } = stores;
  const { storage, urls } = environment;
  const cdn = await startCdn({
    host: "127.0.0.1",
    port: settings.REELKEEP_CDN_PORT,
    baseUrl: urls.media,
    storage,
    keys: { [secrets.cloudFrontKeyPairId]: secrets.cloudFrontPublicKeyPem },
    allowedOrigins: [urls.app],
  });
  onStop(() => cdn.close());
  plane = await startControlPlane({ ...stores, onStop, ...(dev ? { beforeLaunch: bundle } : {}) });

  const site = await startService(
    {
      name: "site",
      script: bundlePath("web"),
      env: { ...environment.forSite, NODE_ENV: dev ? "development" : "production" },
      logFile: stores.logFile("site"),
    },
    fail,
  );
  onStop(() => site.stop());

  return {
    url: urls.app,
    mediaUrl: urls.media,
    storageUrl: urls.storage,
    databaseUrl,
    dataDir: settings.REELKEEP_DATA_DIR,
    ownerCode: (await ownerExists(plane.db)) ? null : secrets.ownerCode,
    failed,
  };
}
