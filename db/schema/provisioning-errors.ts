import { index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/**
 * Workers that were started for nothing: their job doesn't exist. That points to a foreign database, a message of
 * an older installation or a hand that typed, so it is recorded and alarms. No foreign key: the job isn't there.
 */
export const provisioningErrors = pgTable(
  "provisioning_errors",
  {
    /** One per process start, so that a worker which asks again is recorded once. */
    workerId: uuid("worker_id").primaryKey(),
    actionKey: uuid("action_key").notNull(),
    generation: integer("generation").notNull(),
    machineId: text("machine_id"),
    /** A code of core/errors. */
    errorCode: text("error_code").notNull(),
    at: instant("at").notNull(),
  },
  (t) => [index("provisioning_errors_newest").on(t.at)],
);
