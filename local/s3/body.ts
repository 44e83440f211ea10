import { createHash, type Hash } from "node:crypto";
import { type Readable, Transform, type TransformCallback, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AwsChunkedDecoder } from "./aws-chunked.ts";
import {
  type ChecksumAlgorithm,
  type Checksums,
  checksumsOf,
  compareChecksums,
  createDigest,
  type Digest,
  trailingAlgorithm,
} from "./checksums.ts";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";
import type { Authorization } from "./signature.ts";

/** What a verified body turned out to be. */
export interface ReceivedBody {
  readonly sizeBytes: number;
  /** Hex. */
  readonly md5: string;
  readonly checksums: Checksums;
}

/** Counts and hashes what passes. */
export class Meter extends Transform {
  sizeBytes = 0;
  readonly #sizeBytesMax: number;
  readonly #digests: readonly (Hash | Digest)[];

  constructor(sizeBytesMax: number, digests: readonly (Hash | Digest)[]) {
    super({ readableHighWaterMark: 1024 * 1024 });
    this.#sizeBytesMax = sizeBytesMax;
    this.#digests = digests;
  }

  override _transform(data: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.sizeBytes += data.length;
    for (const digest of this.#digests) digest.update(data);
    if (this.sizeBytes > this.#sizeBytesMax) done(new S3Error("EntityTooLarge"));
    else done(null, data);
  }
}

interface Measured extends ReceivedBody {
  readonly md5Base64: string;
  /** Hex; null where it wasn't asked for. */
  readonly sha256: string | null;
}

/** Streams `source` into `destination`, and computes what was asked for on the way. */
export async function measure(
  source: Readable,
  destination: Writable,
  asked: {
    sizeBytesMax: number;
    algorithms: Iterable<ChecksumAlgorithm>;
    sha256?: boolean;
    decoder?: Transform;
  },
): Promise<Measured> {
  const running = new Map([...asked.algorithms].map((algorithm) => [algorithm, createDigest(algorithm)]));
  const md5 = createHash("md5");
  const sha256 = asked.sha256 ? createHash("sha256") : null;
  const meter = new Meter(asked.sizeBytesMax, [md5, ...(sha256 ? [sha256] : []), ...running.values()]);
  await (asked.decoder
    ? pipeline(source, asked.decoder, meter, destination)
    : pipeline(source, meter, destination));
  const md5Digest = md5.digest();
  return {
    sizeBytes: meter.sizeBytes,
    md5: md5Digest.toString("hex"),
    md5Base64: md5Digest.toString("base64"),
    sha256: sha256?.digest("hex") ?? null,
    checksums: Object.fromEntries(
      [...running].map(([algorithm, digest]) => [algorithm, digest.digest().toString("base64")]),
    ),
  };
}

/**
 * Streams a request's body into `destination` and compares it with everything that the client said of it: length,
 * x-amz-content-sha256, Content-MD5, checksums in headers or trailers, chunk signatures. Nothing that was written
 * may be used before this returns.
 *
 * @throws S3Error where anything differs.
 */
export async function receiveBody(
  request: S3Request,
  authorization: Authorization,
  destination: Writable,
  sizeBytesMax: number,
): Promise<ReceivedBody> {
  const { headers } = request;
  const { payload } = authorization;
  const decoder = payload.startsWith("STREAMING-") ? new AwsChunkedDecoder(authorization) : null;
  const hashed = /^[0-9a-f]{64}$/.test(payload);
  if (!hashed && !decoder && payload !== "UNSIGNED-PAYLOAD")
    throw new S3Error("InvalidArgument", "x-amz-content-sha256 is malformed.");
  const length = headers[decoder ? "x-amz-decoded-content-length" : "content-length"];
  if (Number(length) > sizeBytesMax) throw new S3Error("EntityTooLarge");

  const announced = checksumsOf(headers);
  const trailing = decoder ? trailingAlgorithm(headers) : null;
  const body = await measure(request.body(), destination, {
    sizeBytesMax,
    algorithms: new Set([
      ...(Object.keys(announced) as ChecksumAlgorithm[]),
      ...(trailing ? [trailing] : []),
    ]),
    sha256: hashed,
    ...(decoder ? { decoder } : {}),
  });

  if (length !== undefined && body.sizeBytes !== Number(length)) throw new S3Error("IncompleteBody");
  if (hashed && body.sha256 !== payload) throw new S3Error("XAmzContentSHA256Mismatch");
  const contentMd5 = headers["content-md5"];
  if (contentMd5 !== undefined && contentMd5 !== body.md5Base64) throw new S3Error("BadDigest");
  if (trailing) announced[trailing] = decoder?.trailers.get(`x-amz-checksum-${trailing}`) ?? "";
  compareChecksums(announced, body.checksums);
  return body;
}

/** An upload has to say how long it is. @throws S3Error `MissingContentLength`. */
export function requireLength({ headers }: S3Request): void {
  if (headers["content-length"] === undefined && headers["x-amz-decoded-content-length"] === undefined)
    throw new S3Error("MissingContentLength");
}

/** Request documents are small; S3's own limit for the largest one is about this. */
const documentBytesMax = 2 * 1024 * 1024;

/** A small body as text, verified like any other. @throws S3Error as {@link receiveBody}. */
export async function receiveText(request: S3Request, authorization: Authorization): Promise<string> {
  const chunks: Buffer[] = [];
  const collect = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  await receiveBody(request, authorization, collect, documentBytesMax);
  return Buffer.concat(chunks).toString("utf8");
}
