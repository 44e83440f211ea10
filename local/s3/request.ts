import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { S3Error } from "./errors.ts";

export type QueryParameters = readonly (readonly [name: string, value: string])[];

/** A request as S3 sees it. Bucket and key are decoded; the key is opaque and never becomes a path of files. */
export interface S3Request {
  readonly id: string;
  readonly method: string;
  /** As it arrived, still encoded: signatures cover it. */
  readonly rawPath: string;
  /** Empty for the service itself. */
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query: QueryParameters;
  readonly headers: Readonly<Record<string, string | undefined>>;
  parameter(name: string): string | undefined;
  /**
   * Tells a client that waits for it to go on, and gives the body. Destroying this stream leaves the connection
   * open, so that an error can still be answered.
   */
  body(): Readable;
}

/** Sixteen upper-case hex digits, as S3's are. */
export const newRequestId = (): string => randomBytes(8).toString("hex").toUpperCase();

/** Keys are at most this long in UTF-8. https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const keyBytesMax = 1024;

/**
 * Reads a request's target without resolving dot segments, because `..` is a legal part of a key.
 *
 * @throws S3Error `InvalidURI` for targets that aren't a path or have broken percent-encoding, `KeyTooLongError`.
 */
export function readRequest(message: IncomingMessage, response: ServerResponse, id: string): S3Request {
  const target = message.url ?? "";
  if (!target.startsWith("/")) throw new S3Error("InvalidURI");
  const mark = target.indexOf("?");
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? [] : readQuery(target.slice(mark + 1));
  const slash = rawPath.indexOf("/", 1);
  const bucket = decode(slash < 0 ? rawPath.slice(1) : rawPath.slice(1, slash));
  const key = slash < 0 ? "" : decode(rawPath.slice(slash + 1));
  checkKey(key);
  return {
    id,
    method: message.method ?? "GET",
    rawPath,
    bucket,
    key,
    query,
    headers: headersOf(message),
    parameter: (name) => query.find(([other]) => other === name)?.[1],
    body: () => {
      if (message.headers.expect?.toLowerCase() === "100-continue") response.writeContinue();
      return detachedBody(message);
    },
  };
}

/** Without a prototype, because a client that names `constructor` as a header it signed would be given that. */
function headersOf(message: IncomingMessage): S3Request["headers"] {
  const headers: Record<string, string | undefined> = Object.create(null);
  for (const [name, value] of Object.entries(message.headers))
    headers[name] = Array.isArray(value) ? value.join(",") : value;
  return headers;
}

function detachedBody(message: IncomingMessage): Readable {
  const body = new PassThrough({ highWaterMark: 256 * 1024 });
  const cut = () => {
    if (!message.complete) body.destroy(new S3Error("IncompleteBody"));
  };
  message.once("close", cut).once("error", cut);
  return message.pipe(body);
}

/** What the signature itself consists of, and checksums: presigning programs put the empty body's there. */
const notHoisted =
  /^x-amz-(algorithm|credential|date|expires|signedheaders|signature|content-sha256|sdk-|checksum-)/;

/** The request with those of Amazon's headers that a signed address carries as parameters. */
export function withHoistedHeaders(request: S3Request): S3Request {
  const hoisted = request.query
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => name.startsWith("x-amz-") && !notHoisted.test(name));
  return hoisted.length === 0
    ? request
    : { ...request, headers: { ...Object.fromEntries(hoisted), ...request.headers } };
}

/** @throws S3Error `KeyTooLongError`, `InvalidArgument` for a NUL. */
export function checkKey(key: string): void {
  if (Buffer.byteLength(key) > keyBytesMax) throw new S3Error("KeyTooLongError");
  if (key.includes("\0")) throw new S3Error("InvalidArgument", "A key can't contain a NUL.");
}

function readQuery(text: string): QueryParameters {
  return text
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const equals = pair.indexOf("=");
      return equals < 0
        ? ([decode(pair), ""] as const)
        : ([decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))] as const);
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error("InvalidURI");
  }
}
