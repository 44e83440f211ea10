/** Workers that were started for nothing. */
import { desc, gt } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { now, secondsFromNow } from "./clock.ts";
import { provisioningErrors } from "./schema/provisioning-errors.ts";

export type ProvisioningError = typeof provisioningErrors.$inferSelect;

/** Records it once for a worker, however often it asks. */
export async function insertProvisioningError(
  db: Executor,
  error: Omit<ProvisioningError, "at">,
): Promise<void> {
  await db
    .insert(provisioningErrors)
    .values({ ...error, at: now })
    .onConflictDoNothing();
}

/** The newest of the last `seconds`. */
export const listProvisioningErrors = (
  db: Executor,
  { seconds, limit }: { seconds: number; limit: number },
): Promise<ProvisioningError[]> =>
  db
    .select()
    .from(provisioningErrors)
    .where(gt(provisioningErrors.at, secondsFromNow(-seconds)))
    .orderBy(desc(provisioningErrors.at))
    .limit(limit);
