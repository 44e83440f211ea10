import { type SQL, sql } from "drizzle-orm";
import type { Executor } from "./client.ts";

/** The database's clock, the only one that guards ask. */
export const now: SQL<Date> = sql<Date>`reelkeep_now()`;

/** That clock, `seconds` from now (negative: ago). */
export const secondsFromNow = (seconds: number): SQL<Date> =>
  sql<Date>`reelkeep_now() + make_interval(secs => ${seconds}::double precision)`;

/** That clock, read once, rounded up to the whole milliseconds that instants are stored in. */
export async function readClock(db: Executor): Promise<Date> {
  const { rows } = await db.execute<{ milliseconds: number }>(
    sql`select ceil(extract(epoch from ${now}) * 1000)::float8 as milliseconds`,
  );
  return new Date(rows[0]!.milliseconds);
}
