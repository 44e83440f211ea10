/** The deletion sweep in a process of its own, so that it can be killed: `node clean-storage-process.ts {task}`. */
import { createObjectStore } from "@reelkeep/aws/object-store";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import { openDatabase } from "@reelkeep/db/client";
import { cleanStorage } from "@reelkeep/services/clean-storage";

export interface CleanStorageTask {
  readonly databaseUrl: string;
  readonly storage: StorageConfig;
}

const { databaseUrl, storage } = JSON.parse(process.argv[2]!) as CleanStorageTask;
const { db, close } = openDatabase(databaseUrl, { applicationName: "reelkeep-control" });
await cleanStorage({ db, store: createObjectStore(storage) });
await close();
