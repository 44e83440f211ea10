/** Assets: queries, the row lock, and the pointer to what plays. */
import { type AssetMove, assetMachine } from "@reelkeep/core/asset/machine";
import { and, eq, sql } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now } from "./clock.ts";
import { mayMove } from "./move.ts";
import { assets } from "./schema/assets.ts";

export type Asset = typeof assets.$inferSelect;

export async function insertAsset(
  tx: Transaction,
  asset: Pick<Asset, "id" | "ownerId" | "title" | "description">,
): Promise<Asset> {
  const rows = await tx
    .insert(assets)
    .values({ ...asset, createdAt: now, updatedAt: now })
    .returning();
  return rows[0]!;
}

export async function findAsset(db: Executor, id: string): Promise<Asset | null> {
  const rows = await db.select().from(assets).where(eq(assets.id, id));
  return rows[0] ?? null;
}

/** The row, locked until the transaction ends. Lock order everywhere: asset, job, attempt. */
export async function lockAsset(tx: Transaction, id: string): Promise<Asset | null> {
  const rows = await tx.select().from(assets).where(eq(assets.id, id)).for("update");
  return rows[0] ?? null;
}

/** The next source revision of a locked asset. */
export async function raiseSourceRevision(tx: Transaction, id: string): Promise<number> {
  const rows = await tx
    .update(assets)
    .set({ sourceRevision: sql`${assets.sourceRevision} + 1`, updatedAt: now })
    .where(eq(assets.id, id))
    .returning({ sourceRevision: assets.sourceRevision });
  return rows[0]!.sourceRevision;
}

/** Makes a version of a locked, active asset the one that plays. False where the asset isn't active. */
export async function activateVersion(
  tx: Transaction,
  id: string,
  version: { id: string; versionNumber: number },
): Promise<boolean> {
  const rows = await tx
    .update(assets)
    .set({
      activeVersionId: version.id,
      versionCount: sql`greatest(${assets.versionCount}, ${version.versionNumber})`,
      updatedAt: now,
    })
    .where(and(eq(assets.id, id), eq(assets.state, "active")))
    .returning({ id: assets.id });
  return rows.length > 0;
}

/** Makes a picture of a version stand for a locked asset while that version plays. */
export async function choosePoster(
  tx: Transaction,
  id: string,
  { versionId, name }: { versionId: string; name: string },
): Promise<void> {
  await tx
    .update(assets)
    .set({ posterVersionId: versionId, posterName: name, updatedAt: now })
    .where(eq(assets.id, id));
}

/** Blocks, allows or deletes a locked asset; null where it can't move so. */
export async function moveAsset(tx: Transaction, id: string, name: AssetMove): Promise<Asset | null> {
  const rows = await tx
    .update(assets)
    .set({ state: assetMachine.transitions[name].to, updatedAt: now })
    .where(mayMove(assetMachine, name, assets.state, eq(assets.id, id)))
    .returning();
  return rows[0] ?? null;
}

/** Null where the asset isn't active. */
export async function changeAsset(
  db: Executor,
  id: string,
  change: { title?: string | undefined; description?: string | undefined },
): Promise<Asset | null> {
  const rows = await db
    .update(assets)
    .set({
      ...(change.title === undefined ? {} : { title: change.title }),
      ...(change.description === undefined ? {} : { description: change.description }),
      updatedAt: now,
    })
    .where(and(eq(assets.id, id), eq(assets.state, "active")))
    .returning();
  return rows[0] ?? null;
}
