import type { Catalogue } from "./catalogue.ts";

export type DocumentKind = "cors" | "lifecycle" | "notification";

/** The catalogue's buckets and their configurations. */
export function bucketRecords({ database }: Pick<Catalogue, "database">) {
  const insert = database.prepare("INSERT OR IGNORE INTO buckets (name, created_at) VALUES (?, ?)");
  const find = database.prepare("SELECT 1 FROM buckets WHERE name = ?");
  const all = database.prepare("SELECT name, created_at FROM buckets ORDER BY name");
  const remove = database.prepare("DELETE FROM buckets WHERE name = ?");
  const read = database.prepare("SELECT xml FROM bucket_documents WHERE bucket = ? AND kind = ?");
  const write = database.prepare(
    "INSERT OR REPLACE INTO bucket_documents (bucket, kind, xml) VALUES (?, ?, ?)",
  );
  const erase = database.prepare("DELETE FROM bucket_documents WHERE bucket = ? AND kind = ?");

  return {
    /** False where it exists already. */
    add: (name: string, now: Date): boolean => insert.run(name, now.getTime()).changes === 1,
    exists: (name: string): boolean => find.get(name) !== undefined,
    list: (): { name: string; createdAt: Date }[] =>
      (all.all() as { name: string; created_at: number }[]).map(({ name, created_at }) => ({
        name,
        createdAt: new Date(created_at),
      })),
    remove: (name: string): void => void remove.run(name),
    document: (bucket: string, kind: DocumentKind): string | null =>
      (read.get(bucket, kind) as { xml: string } | undefined)?.xml ?? null,
    setDocument: (bucket: string, kind: DocumentKind, xml: string): void => void write.run(bucket, kind, xml),
    removeDocument: (bucket: string, kind: DocumentKind): void => void erase.run(bucket, kind),
  };
}

export type BucketRecords = ReturnType<typeof bucketRecords>;
