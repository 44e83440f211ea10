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

/** Moves the clock on from where it is; it never goes back, so that what is written stays in order. */
export async function advance(db: Executor, seconds: number): Promise<void> {
  const { rows } = await db.execute<{ ahead: number }>(
    sql`select extract(epoch from reelkeep_now() - clock_timestamp())::float8 as ahead`,
  );
  await travel(db, rows[0]!.ahead + seconds);
}

/** Stops the database's clock at an instant, for every session of this database. `travel(db, 0)` lets it go again. */
export async function stopClock(db: Executor, at: Date): Promise<void> {
  await db.execute(
    sql.raw(
      `create or replace function reelkeep_now() returns timestamptz language sql volatile parallel safe
       as $$ select timestamptz '${at.toISOString()}' $$`,
    ),
  );
}
