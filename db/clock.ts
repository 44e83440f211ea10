import { type SQL, sql } from "drizzle-orm";

/** The database's clock, the only one that guards ask. */
export const now: SQL<Date> = sql<Date>`reelkeep_now()`;

/** That clock, `seconds` from now (negative: ago). */
export const secondsFromNow = (seconds: number): SQL<Date> =>
  sql<Date>`reelkeep_now() + make_interval(secs => ${seconds}::double precision)`;
