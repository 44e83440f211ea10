import { S3Error } from "./errors.ts";
import type { ListedObject } from "./object-records.ts";
import { requireBucket } from "./objects.ts";
import type { Operation } from "./operation.ts";
import { countParameter } from "./parameters.ts";
import { uriEncode } from "./signature.ts";
import type { Store } from "./store.ts";
import { element, parent, xmlDocument } from "./xml.ts";

const pageSizeMax = 1000;

export const listObjectsV2: Operation = (store, request) => {
  const { bucket } = request;
  requireBucket(store, bucket);
  if (request.parameter("list-type") !== "2")
    throw new S3Error("NotImplemented", "Only the second version of listing (list-type=2) is there.");
  const prefix = request.parameter("prefix") ?? "";
  const delimiter = request.parameter("delimiter") ?? "";
  const pageSize = countParameter(request, "max-keys", pageSizeMax);
  const startAfter = request.parameter("start-after");
  const token = request.parameter("continuation-token");
  const from = token ? Buffer.from(token, "base64url") : startAfter ? justAfter(startAfter) : Buffer.alloc(0);
  const page = readPage(store, { bucket, prefix, delimiter, from, pageSize });

  const encodes = request.parameter("encoding-type") === "url";
  const name = (text: string) => (encodes ? text.split("/").map(uriEncode).join("/") : text);
  return {
    status: 200,
    xml: xmlDocument(
      "ListBucketResult",
      element("Name", bucket),
      element("Prefix", name(prefix)),
      element("Delimiter", delimiter === "" ? undefined : name(delimiter)),
      element("StartAfter", startAfter === undefined ? undefined : name(startAfter)),
      element("ContinuationToken", token),
      element("NextContinuationToken", page.next?.toString("base64url")),
      element("EncodingType", encodes ? "url" : undefined),
      element("KeyCount", page.objects.length + page.commonPrefixes.length),
      element("MaxKeys", pageSize),
      element("IsTruncated", page.next !== null),
      ...page.objects.map((object) =>
        parent(
          "Contents",
          element("Key", name(object.key)),
          element("LastModified", object.modifiedAt.toISOString()),
          element("ETag", `"${object.etag}"`),
          element("Size", object.sizeBytes),
          element("StorageClass", "STANDARD"),
        ),
      ),
      ...page.commonPrefixes.map((common) => parent("CommonPrefixes", element("Prefix", name(common)))),
    ),
  };
};

interface Page {
  readonly objects: ListedObject[];
  readonly commonPrefixes: string[];
  /** Where the next page begins; null at the end. */
  readonly next: Buffer | null;
}

/** Keys that share what comes up to the delimiter are stepped over at once, however many they are. */
function readPage(
  store: Store,
  about: { bucket: string; prefix: string; delimiter: string; from: Buffer; pageSize: number },
): Page {
  const { bucket, prefix, delimiter, pageSize } = about;
  const start = Buffer.from(prefix);
  const end = justAfterPrefix(prefix);
  const objects: ListedObject[] = [];
  const commonPrefixes: string[] = [];
  const count = () => objects.length + commonPrefixes.length;
  let from = Buffer.compare(about.from, start) > 0 ? about.from : start;
  while (count() < pageSize) {
    const found = store.objects.range(bucket, from, end, pageSize - count());
    if (found.length === 0) return { objects, commonPrefixes, next: null };
    for (const object of found) {
      const at = delimiter === "" ? -1 : object.key.indexOf(delimiter, prefix.length);
      if (at < 0) {
        objects.push(object);
        from = justAfter(object.key);
      } else {
        const common = object.key.slice(0, at + delimiter.length);
        commonPrefixes.push(common);
        from = justAfterPrefix(common) ?? from;
        break;
      }
    }
  }
  const more = pageSize > 0 && store.objects.range(bucket, from, end, 1).length > 0;
  return { objects, commonPrefixes, next: more ? from : null };
}

/** The smallest key after `key`. */
const justAfter = (key: string): Buffer => Buffer.concat([Buffer.from(key), Buffer.alloc(1)]);

/** What comes after every key that begins with `prefix`; null where it is empty. UTF-8 has no byte 255. */
export function justAfterPrefix(prefix: string): Buffer | null {
  if (prefix === "") return null;
  const bytes = Buffer.from(prefix);
  bytes[bytes.length - 1]! += 1;
  return bytes;
}

export const listMultipartUploads: Operation = (store, request) => {
  const { bucket } = request;
  requireBucket(store, bucket);
  const prefix = request.parameter("prefix") ?? "";
  const pageSize = countParameter(request, "max-uploads", pageSizeMax);
  const keyMarker = request.parameter("key-marker") ?? "";
  const idMarker = request.parameter("upload-id-marker");
  // Without an id, all uploads of the marker's key are before it.
  const after =
    idMarker === undefined && keyMarker !== ""
      ? { key: justAfter(keyMarker), id: "" }
      : { key: Buffer.from(keyMarker), id: idMarker ?? "" };
  const found = store.uploads.list(bucket, after, Buffer.from(prefix), justAfterPrefix(prefix), pageSize + 1);
  const page = found.slice(0, pageSize);
  const last = found.length > pageSize ? page.at(-1) : undefined;
  return {
    status: 200,
    xml: xmlDocument(
      "ListMultipartUploadsResult",
      element("Bucket", bucket),
      element("KeyMarker", keyMarker),
      element("UploadIdMarker", idMarker),
      element("NextKeyMarker", last?.key),
      element("NextUploadIdMarker", last?.id),
      element("Prefix", prefix),
      element("MaxUploads", pageSize),
      element("IsTruncated", last !== undefined),
      ...page.map((upload) =>
        parent(
          "Upload",
          element("Key", upload.key),
          element("UploadId", upload.id),
          element("Initiated", upload.startedAt.toISOString()),
          element("StorageClass", "STANDARD"),
        ),
      ),
    ),
  };
};
