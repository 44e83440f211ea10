import { z } from "zod";
import { receiveBody, receiveText, requireLength } from "./body.ts";
import { checksumHeaders } from "./checksums.ts";
import { checkRead, checkWrite } from "./conditions.ts";
import { readCopySource } from "./copy-source.ts";
import { S3Error } from "./errors.ts";
import type { ObjectRecord } from "./object-records.ts";
import type { Answer, Operation } from "./operation.ts";
import { readRange } from "./range.ts";
import type { S3Request } from "./request.ts";
import type { Store } from "./store.ts";
import { overriddenHeaders, storedHeaders } from "./stored-headers.ts";
import { element, parent, parseXml, xmlDocument } from "./xml.ts";

/** A single PUT's limit. https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const putBytesMax = 5 * 1024 ** 3;
const tagsMax = 10;

export const putObject: Operation = async (store, request, authorization) => {
  const { bucket, key, headers } = request;
  requireLength(request);
  requireBucket(store, bucket);
  checkWrite(headers, store.objects.find(bucket, key));
  const stored = storedHeaders(headers);
  const { file, result: body } = await store.shelf.write((destination) =>
    receiveBody(request, authorization, destination, putBytesMax),
  );
  const record = await store.commit({
    object: {
      bucket,
      key,
      etag: body.md5,
      sizeBytes: body.sizeBytes,
      headers: stored,
      checksums: body.checksums,
      checksumType: "FULL_OBJECT",
      uploadId: null,
    },
    pieces: () => [{ file, sizeBytes: body.sizeBytes }],
    newFiles: [file],
    reason: "PutObject",
    requestId: request.id,
    check: (current) => checkWrite(headers, current),
  });
  return { status: 200, headers: { etag: `"${record.etag}"`, ...checksumHeaders(record.checksums) } };
};

/** Takes no room and no time: the copy consists of the same files. */
export const copyObject: Operation = async (store, request) => {
  const { bucket, key, headers } = request;
  requireBucket(store, bucket);
  const source = readCopySource(store, headers);
  const replaces = headers["x-amz-metadata-directive"] === "REPLACE";
  if (source.bucket === bucket && source.key === key && !replaces)
    throw new S3Error("InvalidRequest", "An object can be copied to itself only with other metadata.");
  const { etag, sizeBytes, checksums, checksumType } = source;
  const record = await store.commit({
    object: {
      bucket,
      key,
      etag,
      sizeBytes,
      checksums,
      checksumType,
      headers: replaces ? storedHeaders(headers) : source.headers,
      uploadId: null,
    },
    pieces: () => store.objects.pieces(source.id),
    newFiles: [],
    reason: "CopyObject",
    requestId: request.id,
    check: (current) => checkWrite(headers, current),
  });
  return {
    status: 200,
    xml: xmlDocument(
      "CopyObjectResult",
      element("ETag", `"${record.etag}"`),
      element("LastModified", record.modifiedAt.toISOString()),
    ),
  };
};

export const getObject: Operation = (store, request) => {
  const { record, answer, range } = describe(store, request);
  if (record.sizeBytes === 0) return answer;
  return { ...answer, stream: store.shelf.read(store.objects.pieces(record.id), range.first, range.last) };
};

export const headObject: Operation = (store, request) => describe(store, request).answer;

export const deleteObject: Operation = async (store, { bucket, key }) => {
  requireBucket(store, bucket);
  await store.shelf.remove(store.transact(() => store.objects.remove(bucket, key)));
  return { status: 204 };
};

const taggingSchema = z.object({
  TagSet: z.union([
    z.literal(""),
    z.object({ Tag: z.array(z.object({ Key: z.string().min(1), Value: z.string() })).max(tagsMax) }),
  ]),
});

export const putObjectTagging: Operation = async (store, request, authorization) => {
  const { TagSet } = parseXml(await receiveText(request, authorization), "Tagging", taggingSchema);
  store.objects.setTags(requireObject(store, request).id, TagSet === "" ? [] : TagSet.Tag);
  return { status: 200 };
};

export const getObjectTagging: Operation = (store, request) => {
  const tags = store.objects
    .tags(requireObject(store, request).id)
    .map(({ Key, Value }) => parent("Tag", element("Key", Key), element("Value", Value)));
  return { status: 200, xml: xmlDocument("Tagging", parent("TagSet", ...tags)) };
};

/** @throws S3Error `NoSuchBucket`. */
export function requireBucket(store: Store, bucket: string): void {
  if (!store.buckets.exists(bucket)) throw new S3Error("NoSuchBucket");
}

/** @throws S3Error `NoSuchBucket`, `NoSuchKey`. */
export function requireObject(store: Store, { bucket, key }: { bucket: string; key: string }): ObjectRecord {
  requireBucket(store, bucket);
  const record = store.objects.find(bucket, key);
  if (!record) throw new S3Error("NoSuchKey");
  return record;
}

function describe(store: Store, request: S3Request) {
  const record = requireObject(store, request);
  checkRead(request.headers, record);
  const range = readRange(request.headers.range, record.sizeBytes);
  const whole = range === null;
  const { first, last } = range ?? { first: 0, last: record.sizeBytes - 1 };
  const answer: Answer = {
    status: whole ? 200 : 206,
    headers: {
      ...record.headers,
      ...overriddenHeaders(request.query),
      "accept-ranges": "bytes",
      "content-length": String(last - first + 1),
      etag: `"${record.etag}"`,
      "last-modified": record.modifiedAt.toUTCString(),
      ...(whole ? {} : { "content-range": `bytes ${first}-${last}/${record.sizeBytes}` }),
      ...(whole && request.headers["x-amz-checksum-mode"]?.toUpperCase() === "ENABLED"
        ? { ...checksumHeaders(record.checksums), "x-amz-checksum-type": record.checksumType }
        : {}),
    },
  };
  return { record, answer, range: { first, last } };
}
