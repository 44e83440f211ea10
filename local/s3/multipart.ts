import { createHash, randomBytes } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { Meter, receiveBody, requireLength } from "./body.ts";
import { checksumAlgorithm, checksumElements, checksumHeaders } from "./checksums.ts";
import { readCopySource } from "./copy-source.ts";
import { S3Error } from "./errors.ts";
import { requireBucket } from "./objects.ts";
import type { Operation } from "./operation.ts";
import { countParameter } from "./parameters.ts";
import { readRange } from "./range.ts";
import type { S3Request } from "./request.ts";
import type { Store } from "./store.ts";
import { storedHeaders } from "./stored-headers.ts";
import type { PartRecord, UploadRecord } from "./upload-records.ts";
import { element, parent, xmlDocument } from "./xml.ts";

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
export const partNumberMax = 10_000;
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

/** The upload that the request names, if it is one of this key. @throws S3Error `NoSuchUpload`. */
export function requireUpload(store: Store, request: S3Request): UploadRecord {
  requireBucket(store, request.bucket);
  const upload = store.uploads.find(request.parameter("uploadId") ?? "");
  if (!upload || upload.bucket !== request.bucket || upload.key !== request.key)
    throw new S3Error("NoSuchUpload");
  return upload;
}
