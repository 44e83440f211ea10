import path from "node:path";
import { makePrivateFolder } from "../private-folder.ts";
import { type BucketRecords, bucketRecords } from "./bucket-records.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import { S3Error } from "./errors.ts";
import { eventRecords } from "./event-records.ts";
import { type NewObject, type ObjectRecord, type ObjectRecords, objectRecords } from "./object-records.ts";
import { type CreationReason, createOutbox, type EventTarget, type Outbox } from "./outbox.ts";
import { openShelf, type Piece, type Shelf } from "./shelf.ts";
import { type UploadRecords, uploadRecords } from "./upload-records.ts";

/** Everything that is kept, and the one way to make an object visible. */
export interface Store {
  readonly shelf: Shelf;
  readonly objects: ObjectRecords;
  readonly uploads: UploadRecords;
  readonly buckets: BucketRecords;
  readonly outbox: Outbox;
  readonly transact: Catalogue["transact"];
  /**
   * Makes an object visible together with its event, and removes what it replaces. Durable when this returns.
   *
   * @throws what `check` throws: it sees the object that would be replaced, and nothing comes between. Then the
   * files in `newFiles` are removed.
   */
  commit(request: Commit): Promise<ObjectRecord>;
  close(): Promise<void>;
}

export interface Commit {
  readonly object: NewObject;
  /** Asked within the transaction, because a copy's pieces may be gone before. */
  readonly pieces: () => readonly Piece[];
  readonly newFiles: readonly string[];
  readonly reason: CreationReason;
  readonly requestId: string;
  readonly check: (current: ObjectRecord | null) => void;
  /** Runs at the end of the transaction. Answers further files that are nobody's then. */
  readonly alsoRemove?: () => readonly string[];
}

/** Opens the folder, and sweeps away what a crash has left. @throws Error when another process has it open. */
export async function openStore(options: {
  dataDir: string;
  region: string;
  eventTarget?: EventTarget | undefined;
}): Promise<Store> {
  makePrivateFolder(options.dataDir);
  const catalogue = openCatalogue(path.join(options.dataDir, "catalogue.sqlite"));
  const shelf = openShelf(path.join(options.dataDir, "files"));
  await shelf.sweep(catalogue.ownsFile);
  const objects = objectRecords(catalogue);
  const buckets = bucketRecords(catalogue);
  const outbox = createOutbox(eventRecords(catalogue), options.region, options.eventTarget);
  outbox.nudge();
  return {
    shelf,
    objects,
    uploads: uploadRecords(catalogue),
    buckets,
    outbox,
    transact: catalogue.transact,

    async commit({ object, pieces, newFiles, reason, requestId, check, alsoRemove = () => [] }) {
      const now = new Date();
      let orphans: readonly string[];
      let record: ObjectRecord;
      try {
        ({ orphans, record } = catalogue.transact(() => {
          if (!buckets.exists(object.bucket)) throw new S3Error("NoSuchBucket");
          check(objects.find(object.bucket, object.key));
          const replaced = objects.replace(object, pieces(), now);
          outbox.add(replaced.record, reason, requestId, now);
          return { record: replaced.record, orphans: [...replaced.orphans, ...alsoRemove()] };
        }));
      } catch (error) {
        await shelf.remove(newFiles);
        throw error;
      }
      outbox.nudge();
      await shelf.remove(orphans);
      return record;
    },

    async close() {
      await outbox.close();
      catalogue.close();
    },
  };
}
