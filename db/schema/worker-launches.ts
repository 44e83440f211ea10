import { sql } from "drizzle-orm";
import { doublePrecision, index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { jobs } from "./jobs.ts";

/**
 * Every launch of a machine, kept for ever: what the ceiling counts and what the day's spending is added up from.
 *
 * A row is written before the fleet is asked, and stays open until the machine is confirmed gone or was definitely
 * refused: so a launch whose answer was lost, and an orphan whose lease ran out, take a place as long as they may
 * be there. A job's row tells which launch it waits for; this one doesn't change when the job moves on.
 */
export const workerLaunches = pgTable(
  "worker_launches",
  {
    provisioningToken: uuid("provisioning_token").primaryKey(),
    actionKey: uuid("action_key")
      .notNull()
      .references(() => jobs.actionKey),
    generation: integer("generation").notNull(),
    /** Null until the fleet has answered, or has listed it. */
    machineId: text("machine_id"),
    machineType: text("machine_type"),
    /** At list price when it was launched, in US dollars. */
    usdPerHour: doublePrecision("usd_per_hour").notNull().default(0),
    beganAt: instant("began_at").notNull(),
    /** Since when no job wants the machine, as the reaper saw it; null while one does. */
    unwantedSince: instant("unwanted_since"),
    /** Confirmed gone, or definitely refused. */
    goneAt: instant("gone_at"),
    /** Why there is no machine, where the launch was refused; such a launch cost nothing. */
    refusal: text("refusal"),
  },
  (t) => [
    index("worker_launches_open").on(t.beganAt).where(sql`${t.goneAt} is null`),
    index("worker_launches_gone").on(t.goneAt).where(sql`${t.refusal} is null`),
    index("worker_launches_job").on(t.actionKey, t.beganAt),
  ],
);
