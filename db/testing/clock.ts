import { sql } from "drizzle-orm";
import type { Executor } from "../client.ts";

/** Moves the database's clock, for every session of this database: `seconds` from the real time (0: back to it). */
export async function travel(db: Executor, seconds: number): Promise<void> {
  await db.execute(
    sql.raw(
      `create or replace function reelkeep_now() returns timestamptz language sql volatile parallel safe
       as $$ select clock_timestamp() + make_interval(secs => ${Number(seconds)}) $$`,
    ),
  );
}
