import { AppError } from "@reelkeep/core/errors";
import { uuidSchema } from "@reelkeep/core/ids";
import type { PageCursor } from "@reelkeep/db/page-cursor";

/** As an answer gives it; people can't read anything into it. */
export const writeCursor = ({ at, id }: PageCursor): string =>
  Buffer.from(`${at.toISOString()} ${id}`).toString("base64url");

/** @throws AppError `invalid-request` for a cursor that we didn't write. */
export function readCursor(cursor: string): PageCursor {
  const text = Buffer.from(cursor, "base64url").toString();
  const [, time, rowId] = /^([1-9]\d{3}-\S{18}Z) (\S+)$/.exec(text) ?? [];
  const at = new Date(time ?? "");
  const id = uuidSchema.safeParse(rowId);
  if (!id.success || Number.isNaN(at.getTime())) throw new AppError("invalid-request");
  return { at, id: id.data };
}
