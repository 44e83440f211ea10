import { sql } from "drizzle-orm";
import type { Database, Transaction } from "./client.ts";

/** Things that whole fleets of processes must do one after another. */
export type AdvisoryLock = "worker-ceiling" | "first-account";

/** Runs `work` in a transaction that holds the named lock until it ends. */
export const withAdvisoryLock = <T>(
  db: Database,
  name: AdvisoryLock,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
    return work(tx);
  });
