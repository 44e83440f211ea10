/** The checksums that a client may send along, and that S3 keeps.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { Crc32c } from "@aws-crypto/crc32c";
import { createCrc64Nvme } from "./crc64-nvme.ts";
import { S3Error } from "./errors.ts";

/** A running checksum. */
export interface Digest {
  update(data: Buffer): unknown;
  digest(): Buffer;
}

const algorithms = {
  crc32: () => {
    let value = 0;
    return {
      update: (data: Buffer) => {
        value = crc32(data, value);
      },
      digest: () => bigEndian(value),
    };
  },
  crc32c: () => {
    const running = new Crc32c();
    return {
      update: (data: Buffer) => running.update(data),
      digest: () => bigEndian(running.digest()),
    };
  },
  crc64nvme: createCrc64Nvme,
  sha1: () => createHash("sha1"),
  sha256: () => createHash("sha256"),
} as const satisfies Record<string, () => Digest>;

export type ChecksumAlgorithm = keyof typeof algorithms;

/** Base64, by algorithm. */
export type Checksums = Partial<Record<ChecksumAlgorithm, string>>;

const names = Object.keys(algorithms) as ChecksumAlgorithm[];
const prefix = "x-amz-checksum-";

export const createDigest = (algorithm: ChecksumAlgorithm): Digest => algorithms[algorithm]();

/** Our name of an algorithm, of any case (`SHA256`). @throws S3Error `InvalidRequest`. */
export function checksumAlgorithm(name: string): ChecksumAlgorithm {
  const found = names.find((known) => known === name.toLowerCase());
  if (!found) throw new S3Error("InvalidRequest", `The checksum algorithm ${name} isn't known.`);
  return found;
}

/** The checksums among a request's headers. @throws S3Error `InvalidRequest` for an unknown algorithm. */
export function checksumsOf(headers: Readonly<Record<string, string | undefined>>): Checksums {
  const found: Checksums = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(prefix) || value === undefined) continue;
    const algorithm = name.slice(prefix.length);
    // These two say something about checksums, and are none.
    if (algorithm === "algorithm" || algorithm === "type" || algorithm === "mode") continue;
    found[checksumAlgorithm(algorithm)] = value;
  }
  return found;
}

/** The algorithm whose checksum comes after the body, if one does. */
export function trailingAlgorithm(
  headers: Readonly<Record<string, string | undefined>>,
): ChecksumAlgorithm | null {
  const trailer = headers["x-amz-trailer"]?.trim().toLowerCase();
  return trailer?.startsWith(prefix) ? checksumAlgorithm(trailer.slice(prefix.length)) : null;
}

/** @throws S3Error `BadDigest` where one that was announced isn't the one that was computed. */
export function compareChecksums(announced: Checksums, computed: Checksums): void {
  for (const [name, value] of Object.entries(announced))
    if (computed[name as ChecksumAlgorithm] !== value)
      throw new S3Error("BadDigest", `The ${name} checksum doesn't match the content that arrived.`);
}

/** Checksums as an answer's headers. */
export const checksumHeaders = (checksums: Checksums): Record<string, string> =>
  Object.fromEntries(Object.entries(checksums).map(([name, value]) => [prefix + name, value]));

/** Checksums as elements of an XML answer: `ChecksumSHA256`. */
export const checksumElements = (checksums: Checksums): [string, string][] =>
  Object.entries(checksums).map(([name, value]) => [`Checksum${name.toUpperCase()}`, value]);

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
