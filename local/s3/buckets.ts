import { z } from "zod";
import { receiveText } from "./body.ts";
import type { DocumentKind } from "./bucket-records.ts";
import { parseCorsRules } from "./cors.ts";
import { S3Error, type S3ErrorCode } from "./errors.ts";
import { parseLifecycle } from "./lifecycle.ts";
import { requireBucket } from "./objects.ts";
import type { Operation } from "./operation.ts";
import { checkKey } from "./request.ts";
import { element, parent, parseXml, xmlDocument } from "./xml.ts";

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const bucketName = /^(?!xn--)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]$/;

export const isBucketName = (name: string): boolean => bucketName.test(name);

export const listBuckets: Operation = (store) => ({
  status: 200,
  xml: xmlDocument(
    "ListAllMyBucketsResult",
    parent(
      "Buckets",
      ...store.buckets
        .list()
        .map(({ name, createdAt }) =>
          parent("Bucket", element("Name", name), element("CreationDate", createdAt.toISOString())),
        ),
    ),
  ),
});

export const createBucket: Operation = (store, { bucket }) => {
  if (!isBucketName(bucket)) throw new S3Error("InvalidBucketName");
  if (!store.transact(() => store.buckets.add(bucket, new Date())))
    throw new S3Error("BucketAlreadyOwnedByYou");
  return { status: 200, headers: { location: `/${bucket}` } };
};

export const headBucket: Operation = (store, { bucket }) => {
  requireBucket(store, bucket);
  return { status: 200 };
};

export const deleteBucket: Operation = (store, { bucket }) => {
  requireBucket(store, bucket);
  if (!store.objects.isEmpty(bucket) || !store.uploads.isEmpty(bucket)) throw new S3Error("BucketNotEmpty");
  store.transact(() => store.buckets.remove(bucket));
  return { status: 204 };
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
const deleteSchema = z.object({
  Object: z
    .array(z.object({ Key: z.string().min(1) }))
    .min(1)
    .max(1000),
  Quiet: z.enum(["true", "false"]).optional(),
});

export const deleteObjects: Operation = async (store, request, authorization) => {
  const { bucket } = request;
  requireBucket(store, bucket);
  const document = parseXml(await receiveText(request, authorization), "Delete", deleteSchema);
  for (const { Key } of document.Object) checkKey(Key);
  const orphans = store.transact(() =>
    document.Object.flatMap(({ Key }) => store.objects.remove(bucket, Key)),
  );
  await store.shelf.remove(orphans);
  const deleted = document.Quiet === "true" ? [] : document.Object;
  return {
    status: 200,
    xml: xmlDocument("DeleteResult", ...deleted.map(({ Key }) => parent("Deleted", element("Key", Key)))),
  };
};

/** A bucket's configurations are kept as they were sent, once they were found to be readable. */
const documents: Record<DocumentKind, { check: (xml: string) => unknown; missing: S3ErrorCode | string }> = {
  cors: { check: parseCorsRules, missing: "NoSuchCORSConfiguration" },
  lifecycle: { check: parseLifecycle, missing: "NoSuchLifecycleConfiguration" },
  notification: {
    check: (xml) => parseXml(xml, "NotificationConfiguration", z.unknown()),
    missing: "NotImplemented",
  },
};

export const putBucketDocument =
  (kind: DocumentKind): Operation =>
  async (store, request, authorization) => {
    requireBucket(store, request.bucket);
    const xml = await receiveText(request, authorization);
    documents[kind].check(xml);
    store.transact(() => store.buckets.setDocument(request.bucket, kind, xml));
    return { status: 200 };
  };

export const getBucketDocument =
  (kind: DocumentKind): Operation =>
  (store, { bucket }) => {
    requireBucket(store, bucket);
    const xml = store.buckets.document(bucket, kind);
    if (xml === null) throw new S3Error(documents[kind].missing as S3ErrorCode);
    return { status: 200, xml };
  };

export const deleteBucketDocument =
  (kind: DocumentKind): Operation =>
  (store, { bucket }) => {
    requireBucket(store, bucket);
    store.transact(() => store.buckets.removeDocument(bucket, kind));
    return { status: 204 };
  };
