import { createPresigner } from "@reelkeep/aws/presign";
import type { Actor } from "@reelkeep/core/access/policy";
import { bundlePath } from "@reelkeep/local/bundle";
import type { Stores } from "@reelkeep/local/stores";
import type { ServiceContext } from "@reelkeep/services/context";
import { createActor, createTestContext } from "@reelkeep/services/testing/context";
import type { PostgresProxy } from "./postgres-proxy.ts";
import type { StorageProxy } from "./storage-proxy.ts";

/** What the site's routes stand on: the services, by the proxies, for one creator. */
export interface Site extends ServiceContext {
  readonly creator: Actor;
  close(): Promise<void>;
}

/** Its statements are those of `reelkeep-site`; its own requests to storage come by the door `site`, and the URLs that
 * it signs lead to the door `browsers`. */
export async function createSite(parts: {
  stores: Stores;
  database: PostgresProxy;
  storage: StorageProxy;
}): Promise<Site> {
  const { settings, environment } = parts.stores;
  const url = new URL(parts.database.url);
  url.searchParams.set("application_name", "reelkeep-site");
  const at = (door: "site" | "browsers") => ({
    ...environment.storage,
    endpoint: parts.storage.url(door),
  });
  const context = createTestContext(url.href, at("site"));
  return {
    ...context,
    presigner: createPresigner(at("browsers")),
    probeScript: bundlePath("probe-process"),
    profile: settings.PROFILE,
    uploadLimits: {
      ...context.uploadLimits,
      multipartThresholdBytes: settings.MULTIPART_THRESHOLD_BYTES,
      partBytesMin: settings.MULTIPART_PART_BYTES_MIN,
    },
    creator: await createActor(context),
  };
}
