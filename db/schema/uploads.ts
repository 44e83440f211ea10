import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { assets } from "./assets.ts";
import { byteCount, instant } from "./columns.ts";
import { uploadMethod, uploadState } from "./enums.ts";
import { users } from "./users.ts";

/**
 * Permission to bring one source file, and what became of it. The row exists before any URL does. Everything
 * the browser asks to be signed is compared with it, and admission compares what arrived with it.
 */
export const uploads = pgTable(
  "uploads",
  {
    /** Made by the client; the upload and its one job share it. */
    actionKey: uuid("action_key").primaryKey(),
    assetId: uuid("asset_id")
      .notNull()
      .references(() => assets.id),
    /** Whoever it was issued to; nobody else may use it. */
    userId: text("user_id")
      .notNull()
      .references(() => users.id),
    state: uploadState("state").notNull().default("url-created"),
    /** The only key that this upload may write; see core/object-keys. */
    key: text("key").notNull(),
    filename: text("filename").notNull(),
    contentType: text("content_type").notNull(),
    /** As announced; storage refuses another length, and admission checks what it stored. */
    sizeBytes: byteCount("size_bytes").notNull(),
    /** Base64; for a single PUT. */
    checksumSha256: text("checksum_sha256"),
    method: uploadMethod("method").notNull(),
    partSizeBytes: byteCount("part_size_bytes"),
    /** Storage's id of the multipart upload. The server makes it, once; a request with another is refused. */
    multipartUploadId: text("multipart_upload_id"),
    /** Pinned at admission: every later read sends it as If-Match. */
    etag: text("etag"),
    sourceRevision: integer("source_revision"),
    errorCode: text("error_code"),
    errorMessage: text("error_message"),
    /** The last time that a request was signed: a sign of life for the sweep of abandoned uploads. */
    lastSignedAt: instant("last_signed_at"),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    endedAt: instant("ended_at"),
  },
  (t) => [
    uniqueIndex("uploads_key_unique").on(t.key.op("text_pattern_ops")),
    index("uploads_asset_newest").on(t.assetId, t.createdAt),
    /** A person's quota is summed at each new upload. */
    index("uploads_counted").on(t.userId).where(sql`${t.state} in ('url-created', 'file-uploaded')`),
    index("uploads_open").on(t.lastSignedAt).where(sql`${t.state} = 'url-created'`),
  ],
);
