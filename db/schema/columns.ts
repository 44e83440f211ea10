import { customType, timestamp } from "drizzle-orm/pg-core";

/** A point in time, stored with its zone and read as a Date. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

/** A count of bytes: beyond 2³¹, below 2⁵³. */
export const byteCount = customType<{ data: number; driverData: string }>({
  dataType: () => "bigint",
  fromDriver: (value) => Number(value),
});
