import {
  createBucket,
  deleteBucket,
  deleteBucketDocument,
  deleteObjects,
  getBucketDocument,
  headBucket,
  listBuckets,
  putBucketDocument,
} from "./buckets.ts";
import { S3Error } from "./errors.ts";
import { listMultipartUploads, listObjectsV2 } from "./listing.ts";
import {
  abortMultipartUpload,
  createMultipartUpload,
  listParts,
  uploadPart,
  uploadPartCopy,
} from "./multipart.ts";
import { completeMultipartUpload } from "./multipart-completion.ts";
import {
  copyObject,
  deleteObject,
  getObject,
  getObjectTagging,
  headObject,
  putObject,
  putObjectTagging,
} from "./objects.ts";
import type { Operation } from "./operation.ts";
import type { S3Request } from "./request.ts";

/** By method, what is addressed, and the query parameters that choose an action, in the order of the alphabet. */
const operations: Readonly<Record<string, Operation>> = {
  "GET service": listBuckets,
  "PUT bucket": createBucket,
  "HEAD bucket": headBucket,
  "DELETE bucket": deleteBucket,
  "GET bucket": listObjectsV2,
  "GET bucket uploads": listMultipartUploads,
  "POST bucket delete": deleteObjects,
  "PUT bucket cors": putBucketDocument("cors"),
  "GET bucket cors": getBucketDocument("cors"),
  "DELETE bucket cors": deleteBucketDocument("cors"),
  "PUT bucket lifecycle": putBucketDocument("lifecycle"),
  "GET bucket lifecycle": getBucketDocument("lifecycle"),
  "DELETE bucket lifecycle": deleteBucketDocument("lifecycle"),
  "PUT bucket notification": putBucketDocument("notification"),
  "PUT object": putObject,
  "PUT object copy": copyObject,
  "GET object": getObject,
  "HEAD object": headObject,
  "DELETE object": deleteObject,
  "PUT object tagging": putObjectTagging,
  "GET object tagging": getObjectTagging,
  "POST object uploads": createMultipartUpload,
  "PUT object partNumber uploadId": uploadPart,
  "PUT object partNumber uploadId copy": uploadPartCopy,
  "GET object uploadId": listParts,
  "POST object uploadId": completeMultipartUpload,
  "DELETE object uploadId": abortMultipartUpload,
};

/** Parameters that say how, not what. */
const qualifiers = new Set([
  "continuation-token",
  "delimiter",
  "encoding-type",
  "fetch-owner",
  "key-marker",
  "list-type",
  "max-keys",
  "max-parts",
  "max-uploads",
  "part-number-marker",
  "prefix",
  "start-after",
  "upload-id-marker",
]);

const isQualifier = (name: string): boolean =>
  qualifiers.has(name) || name.startsWith("response-") || /^x-(amz-|id$)/i.test(name);

const methods = new Set(["GET", "HEAD", "PUT", "POST", "DELETE"]);

/**
 * The action that a request asks for. An action that isn't ours (`?acl`) is refused, never taken for another one:
 * else the ACL would become the object.
 *
 * @throws S3Error `NotImplemented`, `MethodNotAllowed`.
 */
export function chooseOperation(request: S3Request): Operation {
  const { method, bucket, key } = request;
  if (!methods.has(method)) throw new S3Error("MethodNotAllowed");
  const level = bucket === "" ? "service" : key === "" ? "bucket" : "object";
  const chosen = request.query.map(([name]) => name).filter((name) => !isQualifier(name));
  const copies = request.headers["x-amz-copy-source"] === undefined ? [] : ["copy"];
  const operation = operations[[method, level, ...chosen.sort(), ...copies].join(" ")];
  if (!operation) throw new S3Error("NotImplemented");
  return operation;
}
