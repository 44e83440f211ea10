import { checkRead } from "./conditions.ts";
import { S3Error } from "./errors.ts";
import type { ObjectRecord } from "./object-records.ts";
import type { Store } from "./store.ts";

/**
 * The object that x-amz-copy-source names, where its conditions hold.
 *
 * @throws S3Error `InvalidArgument`, `NoSuchBucket`, `NoSuchKey`, `PreconditionFailed`.
 */
export function readCopySource(
  store: Store,
  headers: Readonly<Record<string, string | undefined>>,
): ObjectRecord {
  const [, bucket, key] = /^\/?([^/]+)\/(.+)$/s.exec(decode(headers["x-amz-copy-source"] ?? "")) ?? [];
  if (!bucket || !key) throw new S3Error("InvalidArgument", "x-amz-copy-source must be bucket/key.");
  if (!store.buckets.exists(bucket)) throw new S3Error("NoSuchBucket");
  const record = store.objects.find(bucket, key);
  if (!record) throw new S3Error("NoSuchKey");
  try {
    checkRead(
      {
        "if-match": headers["x-amz-copy-source-if-match"],
        "if-none-match": headers["x-amz-copy-source-if-none-match"],
        "if-modified-since": headers["x-amz-copy-source-if-modified-since"],
        "if-unmodified-since": headers["x-amz-copy-source-if-unmodified-since"],
      },
      record,
    );
  } catch {
    // A copy answers 412 where a read would answer 304.
    throw new S3Error("PreconditionFailed");
  }
  return record;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error("InvalidArgument", "x-amz-copy-source has broken percent-encoding.");
  }
}
