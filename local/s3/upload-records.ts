import type { Catalogue } from "./catalogue.ts";
import type { ChecksumAlgorithm, Checksums } from "./checksums.ts";

/** A multipart upload that is under way. */
export interface UploadRecord {
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The one that every part has to have a checksum of. */
  readonly checksumAlgorithm: ChecksumAlgorithm | null;
  readonly startedAt: Date;
}

export interface PartRecord {
  readonly number: number;
  readonly file: string;
  readonly sizeBytes: number;
  readonly etag: string;
  readonly checksums: Checksums;
  readonly modifiedAt: Date;
}

interface UploadRow {
  id: string;
  bucket: string;
  key: Uint8Array;
  headers: string;
  checksum_algorithm: string | null;
  started_at: number;
}

interface PartRow {
  number: number;
  file: string;
  size_bytes: number;
  etag: string;
  checksums: string;
  modified_at: number;
}

/** The catalogue's multipart uploads. Methods that change something belong into a transaction. */
export function uploadRecords({ database }: Pick<Catalogue, "database">) {
  const insert = database.prepare(
    "INSERT INTO uploads (id, bucket, key, headers, checksum_algorithm, started_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const find = database.prepare("SELECT * FROM uploads WHERE id = ?");
  const remove = database.prepare("DELETE FROM uploads WHERE id = ?");
  const list = database.prepare(
    `SELECT * FROM uploads WHERE bucket = ?1 AND (key, id) > (?2, ?3) AND key >= ?4 AND (?5 IS NULL OR key < ?5)
     ORDER BY key, id LIMIT ?6`,
  );
  const startedBefore = database.prepare("SELECT * FROM uploads WHERE bucket = ? AND started_at < ?");
  const findPart = database.prepare("SELECT * FROM parts WHERE upload_id = ? AND number = ?");
  const parts = database.prepare(
    "SELECT * FROM parts WHERE upload_id = ? AND number > ? ORDER BY number LIMIT ?",
  );
  const putPart = database.prepare(
    `INSERT OR REPLACE INTO parts (upload_id, number, file, size_bytes, etag, checksums, modified_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const files = database.prepare("SELECT file FROM parts WHERE upload_id = ?");
  const anyOf = database.prepare("SELECT 1 FROM uploads WHERE bucket = ? LIMIT 1");

  return {
    add(upload: UploadRecord): void {
      const { id, bucket, key, headers, checksumAlgorithm, startedAt } = upload;
      insert.run(
        id,
        bucket,
        Buffer.from(key),
        JSON.stringify(headers),
        checksumAlgorithm,
        startedAt.getTime(),
      );
    },

    find(id: string): UploadRecord | null {
      const row = find.get(id) as UploadRow | undefined;
      return row ? toUpload(row) : null;
    },

    /** Forgets an upload and its parts. Answers the parts' files. */
    remove(id: string): string[] {
      const owned = (files.all(id) as { file: string }[]).map(({ file }) => file);
      remove.run(id);
      return owned;
    },

    /** Those after (`afterKey`, `afterId`), of keys from `first` on and before `end`. */
    list(
      bucket: string,
      after: { key: Buffer; id: string },
      first: Buffer,
      end: Buffer | null,
      limit: number,
    ): UploadRecord[] {
      const rows = list.all(bucket, after.key, after.id, first, end, limit) as unknown as UploadRow[];
      return rows.map(toUpload);
    },

    startedBefore: (bucket: string, time: Date): UploadRecord[] =>
      (startedBefore.all(bucket, time.getTime()) as unknown as UploadRow[]).map(toUpload),

    isEmpty: (bucket: string): boolean => anyOf.get(bucket) === undefined,

    findPart(uploadId: string, number: number): PartRecord | null {
      const row = findPart.get(uploadId, number) as PartRow | undefined;
      return row ? toPart(row) : null;
    },

    parts: (uploadId: string, afterNumber: number, limit: number): PartRecord[] =>
      (parts.all(uploadId, afterNumber, limit) as unknown as PartRow[]).map(toPart),

    putPart(uploadId: string, part: PartRecord): void {
      putPart.run(
        uploadId,
        part.number,
        part.file,
        part.sizeBytes,
        part.etag,
        JSON.stringify(part.checksums),
        part.modifiedAt.getTime(),
      );
    },
  };
}

export type UploadRecords = ReturnType<typeof uploadRecords>;

const toUpload = (row: UploadRow): UploadRecord => ({
  id: row.id,
  bucket: row.bucket,
  key: Buffer.from(row.key).toString("utf8"),
  headers: JSON.parse(row.headers) as Record<string, string>,
  checksumAlgorithm: row.checksum_algorithm as ChecksumAlgorithm | null,
  startedAt: new Date(row.started_at),
});

const toPart = (row: PartRow): PartRecord => ({
  number: row.number,
  file: row.file,
  sizeBytes: row.size_bytes,
  etag: row.etag,
  checksums: JSON.parse(row.checksums) as Checksums,
  modifiedAt: new Date(row.modified_at),
});
