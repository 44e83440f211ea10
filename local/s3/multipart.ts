import { createHash, randomBytes } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { Meter, receiveBody, receiveText, requireLength } from "./body.ts";
import {
  type ChecksumAlgorithm,
  type Checksums,
  checksumAlgorithm,
  checksumElements,
  checksumHeaders,
  checksumsOf,
  createDigest,
} from "./checksums.ts";
import { checkWrite } from "./conditions.ts";
import { readCopySource } from "./copy-source.ts";
import { S3Error } from "./errors.ts";
import type { ObjectRecord } from "./object-records.ts";
import { requireBucket } from "./objects.ts";
import type { Operation } from "./operation.ts";
import { countParameter } from "./parameters.ts";
import { readRange } from "./range.ts";
import type { S3Request } from "./request.ts";
import { uriEncode } from "./signature.ts";
import type { Store } from "./store.ts";
import { storedHeaders } from "./stored-headers.ts";
import type { PartRecord, UploadRecord } from "./upload-records.ts";
import { element, parent, parseXml, xmlDocument } from "./xml.ts";

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const partNumberMax = 10_000;
const partBytesMin = 5 * 1024 ** 2;
const partBytesMax = 5 * 1024 ** 3;
const pageSizeMax = 1000;

export const createMultipartUpload: Operation = (store, request) => {
  const { bucket, key, headers } = request;
  requireBucket(store, bucket);
  if (headers["x-amz-checksum-type"]?.toUpperCase() === "FULL_OBJECT")
    throw new S3Error("NotImplemented", "Checksums of whole multipart objects aren't computed here.");
  const algorithm = headers["x-amz-checksum-algorithm"];
  const upload: UploadRecord = {
    id: randomBytes(24).toString("base64url"),
    bucket,
    key,
    headers: storedHeaders(headers),
    checksumAlgorithm: algorithm === undefined ? null : checksumAlgorithm(algorithm),
    startedAt: new Date(),
  };
  store.transact(() => store.uploads.add(upload));
  return {
    status: 200,
    xml: xmlDocument(
      "InitiateMultipartUploadResult",
      element("Bucket", bucket),
      element("Key", key),
      element("UploadId", upload.id),
    ),
  };
};

export const uploadPart: Operation = async (store, request, authorization) => {
  requireLength(request);
  const number = partNumberOf(request);
  const upload = requireUpload(store, request);
  const { file, result: body } = await store.shelf.write((destination) =>
    receiveBody(request, authorization, destination, partBytesMax),
  );
  const { sizeBytes, md5: etag, checksums } = body;
  await keepPart(store, upload, { number, file, sizeBytes, etag, checksums, modifiedAt: new Date() });
  return { status: 200, headers: { etag: `"${etag}"`, ...checksumHeaders(checksums) } };
};

export const uploadPartCopy: Operation = async (store, request) => {
  const number = partNumberOf(request);
  const upload = requireUpload(store, request);
  const source = readCopySource(store, request.headers);
  const range = readRange(request.headers["x-amz-copy-source-range"], source.sizeBytes);
  const { first, last } = range ?? { first: 0, last: source.sizeBytes - 1 };
  const md5 = createHash("md5");
  const meter = new Meter(partBytesMax, [md5]);
  const { file } = await store.shelf.write((destination) =>
    pipeline(store.shelf.read(store.objects.pieces(source.id), first, last), meter, destination),
  );
  const part = {
    number,
    file,
    sizeBytes: meter.sizeBytes,
    etag: md5.digest("hex"),
    checksums: {},
    modifiedAt: new Date(),
  };
  await keepPart(store, upload, part);
  return {
    status: 200,
    xml: xmlDocument(
      "CopyPartResult",
      element("ETag", `"${part.etag}"`),
      element("LastModified", part.modifiedAt.toISOString()),
    ),
  };
};

/** The upload may have ended while the part arrived; then the part goes too. */
async function keepPart(store: Store, upload: UploadRecord, part: PartRecord): Promise<void> {
  try {
    const replaced = store.transact(() => {
      if (!store.uploads.find(upload.id)) throw new S3Error("NoSuchUpload");
      const before = store.uploads.findPart(upload.id, part.number);
      store.uploads.putPart(upload.id, part);
      return before ? [before.file] : [];
    });
    await store.shelf.remove(replaced);
  } catch (error) {
    await store.shelf.remove([part.file]);
    throw error;
  }
}

const completionSchema = z.object({
  Part: z
    .array(z.object({ PartNumber: z.string().regex(/^\d{1,5}$/), ETag: z.string() }))
    .min(1)
    .max(partNumberMax),
});

/**
 * Makes the parts one object, without copying them. A completion that is repeated, because its answer was lost,
 * gets the same answer.
 */
export const completeMultipartUpload: Operation = async (store, request, authorization) => {
  const { bucket, key, headers } = request;
  const text = await receiveText(request, authorization);
  const document = parseXml(text, "CompleteMultipartUpload", completionSchema);
  const already = store.objects.find(bucket, key);
  const uploadId = request.parameter("uploadId") ?? "";
  if (already?.uploadId === uploadId) return completionAnswer(request, already);

  const upload = requireUpload(store, request);
  const parts = chooseParts(store, upload, document.Part);
  const checksums = compositeChecksums(upload.checksumAlgorithm, parts);
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  const announced = headers["x-amz-mp-object-size"];
  if (announced !== undefined && Number(announced) !== sizeBytes)
    throw new S3Error("InvalidRequest", "x-amz-mp-object-size isn't the sum of the parts.");
  for (const [algorithm, value] of Object.entries(checksumsOf(headers)))
    if (checksums[algorithm as ChecksumAlgorithm] !== value) throw new S3Error("BadDigest");
  const md5s = Buffer.concat(parts.map(({ etag }) => Buffer.from(etag, "hex")));
  const record = await store.commit({
    object: {
      bucket,
      key,
      etag: `${createHash("md5").update(md5s).digest("hex")}-${parts.length}`,
      sizeBytes,
      headers: upload.headers,
      checksums,
      checksumType: "COMPOSITE",
      uploadId: upload.id,
    },
    pieces: () => parts,
    newFiles: [],
    reason: "CompleteMultipartUpload",
    requestId: request.id,
    check: (current) => checkWrite(headers, current),
    alsoRemove: () => {
      const used = new Set(parts.map(({ file }) => file));
      return store.uploads.remove(upload.id).filter((file) => !used.has(file));
    },
  });
  return completionAnswer(request, record);
};

function completionAnswer(request: S3Request, record: ObjectRecord) {
  const { bucket, key, etag } = record;
  const path = [bucket, ...key.split("/")].map(uriEncode).join("/");
  return {
    status: 200,
    xml: xmlDocument(
      "CompleteMultipartUploadResult",
      element("Location", `http://${request.headers.host}/${path}`),
      element("Bucket", bucket),
      element("Key", key),
      element("ETag", `"${etag}"`),
      ...checksumElements(record.checksums).map(([name, value]) => element(name, value)),
    ),
  };
}

function chooseParts(
  store: Store,
  upload: UploadRecord,
  wanted: z.infer<typeof completionSchema>["Part"],
): PartRecord[] {
  const inOrder = wanted.every(
    ({ PartNumber }, index) => index === 0 || Number(PartNumber) > Number(wanted[index - 1]!.PartNumber),
  );
  if (!inOrder) throw new S3Error("InvalidPartOrder");
  return wanted.map(({ PartNumber, ETag }, index) => {
    const part = store.uploads.findPart(upload.id, Number(PartNumber));
    if (!part || part.etag !== ETag.replaceAll('"', "").trim()) throw new S3Error("InvalidPart");
    if (part.sizeBytes < partBytesMin && index < wanted.length - 1) throw new S3Error("EntityTooSmall");
    return part;
  });
}

/** Of the parts' own checksums, in order, where all of them have one. */
function compositeChecksums(algorithm: ChecksumAlgorithm | null, parts: readonly PartRecord[]): Checksums {
  if (!algorithm) return {};
  const digest = createDigest(algorithm);
  for (const { checksums } of parts) {
    const value = checksums[algorithm];
    if (value === undefined) return {};
    digest.update(Buffer.from(value, "base64"));
  }
  return { [algorithm]: `${digest.digest().toString("base64")}-${parts.length}` };
}

export const abortMultipartUpload: Operation = async (store, request) => {
  const { id } = requireUpload(store, request);
  await store.shelf.remove(store.transact(() => store.uploads.remove(id)));
  return { status: 204 };
};

export const listParts: Operation = (store, request) => {
  const upload = requireUpload(store, request);
  const pageSize = countParameter(request, "max-parts", pageSizeMax);
  const marker = Number(request.parameter("part-number-marker") ?? 0);
  if (!Number.isInteger(marker) || marker < 0)
    throw new S3Error("InvalidArgument", "part-number-marker must be a number.");
  const found = store.uploads.parts(upload.id, marker, pageSize + 1);
  const page = found.slice(0, pageSize);
  const truncated = found.length > pageSize;
  return {
    status: 200,
    xml: xmlDocument(
      "ListPartsResult",
      element("Bucket", upload.bucket),
      element("Key", upload.key),
      element("UploadId", upload.id),
      element("PartNumberMarker", marker),
      element("NextPartNumberMarker", truncated ? (page.at(-1)?.number ?? marker) : undefined),
      element("MaxParts", pageSize),
      element("IsTruncated", truncated),
      ...page.map((part) =>
        parent(
          "Part",
          element("PartNumber", part.number),
          element("LastModified", part.modifiedAt.toISOString()),
          element("ETag", `"${part.etag}"`),
          element("Size", part.sizeBytes),
          ...checksumElements(part.checksums).map(([name, value]) => element(name, value)),
        ),
      ),
    ),
  };
};

function partNumberOf(request: S3Request): number {
  const number = Number(request.parameter("partNumber"));
  if (!Number.isInteger(number) || number < 1 || number > partNumberMax)
    throw new S3Error("InvalidArgument", `partNumber must be 1 to ${partNumberMax}.`);
  return number;
}

function requireUpload(store: Store, request: S3Request): UploadRecord {
  requireBucket(store, request.bucket);
  const upload = store.uploads.find(request.parameter("uploadId") ?? "");
  if (!upload || upload.bucket !== request.bucket || upload.key !== request.key)
    throw new S3Error("NoSuchUpload");
  return upload;
}
