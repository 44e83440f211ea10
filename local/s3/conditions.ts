/** RFC 9110 section 13, as S3 does it.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html */
import { S3Error } from "./errors.ts";
import type { ObjectRecord } from "./object-records.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** @throws S3Error `PreconditionFailed`, `NoSuchKey` for an If-Match on nothing, `NotImplemented`. */
export function checkWrite(headers: Headers, current: ObjectRecord | null): void {
  const ifNoneMatch = headers["if-none-match"];
  const ifMatch = headers["if-match"];
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*")
    throw new S3Error("NotImplemented", "If-None-Match of a write can only be *.");
  if (ifNoneMatch !== undefined && current) throw new S3Error("PreconditionFailed");
  if (ifMatch !== undefined && !current) throw new S3Error("NoSuchKey");
  if (ifMatch !== undefined && current && !lists(ifMatch, current.etag))
    throw new S3Error("PreconditionFailed");
}

/** @throws S3Error `PreconditionFailed`, `NotModified`. */
export function checkRead(headers: Headers, current: ObjectRecord): void {
  const modifiedSeconds = Math.floor(current.modifiedAt.getTime() / 1000);
  const notAfter = (date: string) => modifiedSeconds <= Date.parse(date) / 1000;
  const {
    "if-match": match,
    "if-none-match": noneMatch,
    "if-modified-since": modifiedSince,
    "if-unmodified-since": unmodifiedSince,
  } = headers;
  if (match !== undefined) {
    if (!lists(match, current.etag)) throw new S3Error("PreconditionFailed");
  } else if (unmodifiedSince !== undefined && !Number.isNaN(Date.parse(unmodifiedSince))) {
    if (!notAfter(unmodifiedSince)) throw new S3Error("PreconditionFailed");
  }
  const notModified = () =>
    new S3Error("NotModified", undefined, {
      etag: `"${current.etag}"`,
      "last-modified": current.modifiedAt.toUTCString(),
    });
  if (noneMatch !== undefined) {
    if (lists(noneMatch, current.etag)) throw notModified();
  } else if (modifiedSince !== undefined && notAfter(modifiedSince)) throw notModified();
}

/** Whether a list of ETags, quoted or not, has this one. */
const lists = (value: string, etag: string): boolean =>
  value
    .split(",")
    .map((item) => item.trim().replace(/^W\//, "").replaceAll('"', ""))
    .some((item) => item === "*" || item === etag);
