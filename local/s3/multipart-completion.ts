import { createHash } from "node:crypto";
import { z } from "zod";
import { receiveText } from "./body.ts";
import {
  type ChecksumAlgorithm,
  type Checksums,
  checksumElements,
  checksumsOf,
  compareChecksums,
  createDigest,
} from "./checksums.ts";
import { checkWrite } from "./conditions.ts";
import { S3Error } from "./errors.ts";
import { partNumberMax, requireUpload } from "./multipart.ts";
import type { ObjectRecord } from "./object-records.ts";
import type { Operation } from "./operation.ts";
import type { S3Request } from "./request.ts";
import { uriEncode } from "./signature.ts";
import type { Store } from "./store.ts";
import type { PartRecord, UploadRecord } from "./upload-records.ts";
import { element, parseXml, xmlDocument } from "./xml.ts";

/** Every part but the last. https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const partBytesMin = 5 * 1024 ** 2;

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
  compareChecksums(checksumsOf(headers), checksums);
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
