import { S3Error } from "./errors.ts";

/** Both ends are included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a Range header with one range (RFC 9110 section 14.1.2). Null where the whole is meant: no header, another
 * unit, several ranges, or nothing that can be read, which all are to be ignored.
 *
 * @throws S3Error `InvalidRange`.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | null {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (from === "" && to === "") return null;
  const first = from === "" ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const last = from === "" || to === "" ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1);
  if (from !== "" && to !== "" && Number(to) < Number(from)) return null;
  if (first > last || first >= sizeBytes)
    throw new S3Error("InvalidRange", undefined, { "content-range": `bytes */${sizeBytes}` });
  return { first, last };
}
