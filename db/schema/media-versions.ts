import {
  boolean,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { assets } from "./assets.ts";
import { byteCount, instant } from "./columns.ts";
import { jobAttempts } from "./job-attempts.ts";

/** One stored object of a version: its name below the version's prefix, its size and storage's ETag. */
export interface InventoryItem {
  readonly name: string;
  readonly sizeBytes: number;
  readonly etag: string;
}

/** A rendition as its multivariant playlist describes it. */
export interface VersionRendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Peak and average, in bits per second, sound included. */
  readonly bandwidth: number;
  readonly averageBandwidth: number;
  readonly codecs: string;
  readonly segmentCount: number;
}

/**
 * An immutable published output. It is exactly one prefix: a policy for that prefix opens this version and no
 * other. Rows are never changed after their insert; rollback moves the asset's pointer and adds an audit row.
 */
export const mediaVersions = pgTable(
  "media_versions",
  {
    id: uuid("id").primaryKey(),
    assetId: uuid("asset_id")
      .notNull()
      .references(() => assets.id),
    /** 1, 2, 3… per asset. */
    versionNumber: integer("version_number").notNull(),
    /** Null for output that was imported. */
    sourceRevision: integer("source_revision"),
    /** Null for output that was imported. Unique: publishing twice from one attempt is the same version. */
    attemptId: uuid("attempt_id").references(() => jobAttempts.id),
    profile: text("profile").notNull(),
    /** What made its pictures: `ffmpeg-cpu`, `ffmpeg-nvenc`, `legacy-reference`. */
    processor: text("processor").notNull(),
    /** Relative to the bucket, with its final slash. No host, so that the CDN's name can change. */
    prefix: text("prefix").notNull(),
    masterName: text("master_name").notNull(),
    /** What stands for the version until somebody chooses. */
    posterName: text("poster_name"),
    /** Names of pictures that may stand for it. */
    posterSuggestions: jsonb("poster_suggestions").$type<string[]>().notNull().default([]),
    /** The WebVTT of the pictures along the time line. */
    storyboardName: text("storyboard_name"),
    durationSeconds: doublePrecision("duration_seconds").notNull(),
    width: integer("width").notNull(),
    height: integer("height").notNull(),
    hasAudio: boolean("has_audio").notNull(),
    renditions: jsonb("renditions").$type<VersionRendition[]>().notNull(),
    /** Every object, as verified before publication; rollback verifies against it again. */
    inventory: jsonb("inventory").$type<InventoryItem[]>().notNull(),
    sizeBytes: byteCount("size_bytes").notNull(),
    verifiedAt: instant("verified_at").notNull(),
    publishedAt: instant("published_at").notNull(),
  },
  (t) => [
    uniqueIndex("media_versions_number").on(t.assetId, t.versionNumber),
    uniqueIndex("media_versions_attempt").on(t.attemptId),
    // The operators of patterns find what begins with a folder in every locale.
    uniqueIndex("media_versions_prefix").on(t.prefix.op("text_pattern_ops")),
  ],
);
