import type { Catalogue } from "./catalogue.ts";
import type { Checksums } from "./checksums.ts";
import type { Piece } from "./shelf.ts";

/** `COMPOSITE`: a checksum of the parts' checksums, with `-{parts}` at its end. */
export type ChecksumType = "FULL_OBJECT" | "COMPOSITE";

export interface NewObject {
  readonly bucket: string;
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
  readonly sizeBytes: number;
  /** What GET answers with: content-type and others, x-amz-meta-…. */
  readonly headers: Readonly<Record<string, string>>;
  readonly checksums: Checksums;
  readonly checksumType: ChecksumType;
  /** The multipart upload that it was, so that a repeated completion is known again. */
  readonly uploadId: string | null;
}

export interface ObjectRecord extends NewObject {
  /** Grows with every commit; the sequencer of events. */
  readonly id: number;
  readonly modifiedAt: Date;
}

export interface ListedObject {
  readonly key: string;
  readonly etag: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
}

export interface Tag {
  readonly Key: string;
  readonly Value: string;
}

interface Row {
  id: number;
  bucket: string;
  key: Uint8Array;
  etag: string;
  size_bytes: number;
  modified_at: number;
  headers: string;
  checksums: string;
  checksum_type: string;
  upload_id: string | null;
}

/** The catalogue's objects. Methods that change something belong into a transaction. */
export function objectRecords({ database, ownsFile }: Pick<Catalogue, "database" | "ownsFile">) {
  const find = database.prepare("SELECT * FROM objects WHERE bucket = ? AND key = ?");
  const pieces = database.prepare(
    "SELECT file, size_bytes FROM object_pieces WHERE object_id = ? ORDER BY position",
  );
  const insert = database.prepare(
    `INSERT INTO objects (bucket, key, etag, size_bytes, modified_at, headers, checksums, checksum_type, upload_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertPiece = database.prepare(
    "INSERT INTO object_pieces (object_id, position, file, size_bytes) VALUES (?, ?, ?, ?)",
  );
  const remove = database.prepare("DELETE FROM objects WHERE id = ?");
  const range = database.prepare(
    `SELECT key, etag, size_bytes, modified_at FROM objects
     WHERE bucket = ? AND key >= ? AND (?3 IS NULL OR key < ?3) ORDER BY key LIMIT ?`,
  );
  const anyOf = database.prepare("SELECT 1 FROM objects WHERE bucket = ? LIMIT 1");
  const readTags = database.prepare("SELECT tags FROM objects WHERE id = ?");
  const writeTags = database.prepare("UPDATE objects SET tags = ? WHERE id = ?");

  const records = {
    find(bucket: string, key: string): ObjectRecord | null {
      const row = find.get(bucket, Buffer.from(key)) as Row | undefined;
      return row ? toRecord(row) : null;
    },

    pieces(objectId: number): Piece[] {
      const rows = pieces.all(objectId) as { file: string; size_bytes: number }[];
      return rows.map(({ file, size_bytes }) => ({ file, sizeBytes: size_bytes }));
    },

    /** Puts an object in the place of what has its key now. Answers it and the files that are nobody's then. */
    replace(
      object: NewObject,
      parts: readonly Piece[],
      now: Date,
    ): { record: ObjectRecord; orphans: string[] } {
      const orphans = records.remove(object.bucket, object.key, new Set(parts.map(({ file }) => file)));
      const { lastInsertRowid } = insert.run(
        object.bucket,
        Buffer.from(object.key),
        object.etag,
        object.sizeBytes,
        now.getTime(),
        JSON.stringify(object.headers),
        JSON.stringify(object.checksums),
        object.checksumType,
        object.uploadId,
      );
      parts.forEach(({ file, sizeBytes }, position) => {
        insertPiece.run(lastInsertRowid, position, file, sizeBytes);
      });
      return { record: { ...object, id: Number(lastInsertRowid), modifiedAt: now }, orphans };
    },

    /** Answers the files that are nobody's then, but those in `kept`. */
    remove(bucket: string, key: string, kept: ReadonlySet<string> = new Set()): string[] {
      const record = records.find(bucket, key);
      if (!record) return [];
      const files = records.pieces(record.id).map(({ file }) => file);
      remove.run(record.id);
      return files.filter((file) => !kept.has(file) && !ownsFile(file));
    },

    /** In the order of keys' bytes, from `first` on and before `end`. */
    range(bucket: string, first: Buffer, end: Buffer | null, limit: number): ListedObject[] {
      const rows = range.all(bucket, first, end, limit) as Pick<
        Row,
        "key" | "etag" | "size_bytes" | "modified_at"
      >[];
      return rows.map(({ key, etag, size_bytes, modified_at }) => ({
        key: Buffer.from(key).toString("utf8"),
        etag,
        sizeBytes: size_bytes,
        modifiedAt: new Date(modified_at),
      }));
    },

    isEmpty: (bucket: string): boolean => anyOf.get(bucket) === undefined,

    tags(objectId: number): Tag[] {
      const row = readTags.get(objectId) as { tags: string } | undefined;
      return row ? (JSON.parse(row.tags) as Tag[]) : [];
    },

    setTags(objectId: number, tags: readonly Tag[]): void {
      writeTags.run(JSON.stringify(tags), objectId);
    },
  };
  return records;
}

export type ObjectRecords = ReturnType<typeof objectRecords>;

function toRecord(row: Row): ObjectRecord {
  return {
    id: row.id,
    bucket: row.bucket,
    key: Buffer.from(row.key).toString("utf8"),
    etag: row.etag,
    sizeBytes: row.size_bytes,
    modifiedAt: new Date(row.modified_at),
    headers: JSON.parse(row.headers) as Record<string, string>,
    checksums: JSON.parse(row.checksums) as Checksums,
    checksumType: row.checksum_type as ChecksumType,
    uploadId: row.upload_id,
  };
}
