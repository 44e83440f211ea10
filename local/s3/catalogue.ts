/**
 * What the files on the shelf mean: objects, multipart uploads, buckets and events not yet delivered, in one SQLite
 * file. A commit is one transaction that outlives a power cut, so an object and its event appear together or not
 * at all. (This is storage's own index, not the product's data: that lies in PostgreSQL.)
 */
import { DatabaseSync } from "node:sqlite";

/** A list of versions of the schema; `user_version` tells how many were applied. */
const migrations = [
  `
  CREATE TABLE buckets (
    name TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Configurations as they were sent: cors, lifecycle, notification.
  CREATE TABLE bucket_documents (
    bucket TEXT NOT NULL REFERENCES buckets ON DELETE CASCADE,
    kind TEXT NOT NULL,
    xml TEXT NOT NULL,
    PRIMARY KEY (bucket, kind)
  ) STRICT, WITHOUT ROWID;

  -- Keys are bytes, because S3 lists by the order of bytes. Ids are never used again: they order what happened to a key.
  CREATE TABLE objects (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bucket TEXT NOT NULL REFERENCES buckets,
    key BLOB NOT NULL,
    etag TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    headers TEXT NOT NULL,
    checksums TEXT NOT NULL,
    checksum_type TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    upload_id TEXT,
    UNIQUE (bucket, key)
  ) STRICT;

  CREATE TABLE object_pieces (
    object_id INTEGER NOT NULL REFERENCES objects ON DELETE CASCADE,
    position INTEGER NOT NULL,
    file TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    PRIMARY KEY (object_id, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX object_pieces_by_file ON object_pieces (file);

  CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    bucket TEXT NOT NULL REFERENCES buckets,
    key BLOB NOT NULL,
    headers TEXT NOT NULL,
    checksum_algorithm TEXT,
    started_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX uploads_by_key ON uploads (bucket, key, id);

  CREATE TABLE parts (
    upload_id TEXT NOT NULL REFERENCES uploads ON DELETE CASCADE,
    number INTEGER NOT NULL,
    file TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    etag TEXT NOT NULL,
    checksums TEXT NOT NULL,
    modified_at INTEGER NOT NULL,
    PRIMARY KEY (upload_id, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX parts_by_file ON parts (file);

  -- The outbox: a row stays until the target has answered with success.
  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX events_by_due ON events (due_at);
  `,
];

export interface Catalogue {
  readonly database: DatabaseSync;
  /** Runs `work` in one transaction, which is durable when this returns. Nothing of it stays when it throws. */
  transact<T>(work: () => T): T;
  /** Whether an object or a part consists of this file. */
  ownsFile(file: string): boolean;
  close(): void;
}

/** @throws Error when another process has the catalogue open. */
export function openCatalogue(file: string): Catalogue {
  const database = new DatabaseSync(file);
  // Exclusive: two servers on one folder would remove each other's files. FULL: every commit is on the disk.
  database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  database.exec("PRAGMA foreign_keys = ON;");
  const transact = <T>(work: () => T): T => {
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  };
  const { user_version: applied } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  migrations.slice(applied).forEach((sql, index) => {
    transact(() => database.exec(`${sql}; PRAGMA user_version = ${applied + index + 1}`));
  });
  const owner = database.prepare(
    "SELECT 1 FROM object_pieces WHERE file = ?1 UNION ALL SELECT 1 FROM parts WHERE file = ?1 LIMIT 1",
  );
  return {
    database,
    transact,
    ownsFile: (name) => owner.get(name) !== undefined,
    close: () => database.close(),
  };
}
