/** The audit log: who did what to a video. */
import { asc, eq } from "drizzle-orm";
import type { Executor, Transaction } from "./client.ts";
import { now } from "./clock.ts";
import { publicationAudits } from "./schema/publication-audits.ts";

export type Audit = typeof publicationAudits.$inferSelect;

/** What changes what plays names both versions; an act on a job names the job. */
export type NewAudit = Pick<Audit, "assetId" | "actorKind" | "actorId"> &
  (
    | ({ action: "publish" | "rollback" | "import" | "choose-poster" } & Pick<
        Audit,
        "beforeVersionId" | "afterVersionId"
      >)
    | { action: "block" | "unblock" | "delete" }
    | { action: "cancel" | "retry"; actionKey: string }
  );

/** Written in the transaction of the act that it tells of. The asset's row must be locked. */
export async function insertAudit(tx: Transaction, audit: NewAudit): Promise<void> {
  await tx.insert(publicationAudits).values({ ...audit, at: now });
}

/** An asset's rows, the first first. */
export const listAudits = (db: Executor, assetId: string): Promise<Audit[]> =>
  db
    .select()
    .from(publicationAudits)
    .where(eq(publicationAudits.assetId, assetId))
    .orderBy(asc(publicationAudits.at));
