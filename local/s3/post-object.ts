import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { measure } from "./body.ts";
import { type ChecksumAlgorithm, checksumsOf, compareChecksums } from "./checksums.ts";
import { S3Error } from "./errors.ts";
import type { ObjectRecord } from "./object-records.ts";
import { requireBucket } from "./objects.ts";
import type { Answer } from "./operation.ts";
import { checkPolicy, type FormFields } from "./post-policy.ts";
import { checkKey, type S3Request } from "./request.ts";
import { type Credentials, uriEncode } from "./signature.ts";
import type { Store } from "./store.ts";
import { storedHeaders } from "./stored-headers.ts";
import { element, xmlDocument } from "./xml.ts";

/** Form fields together may be this long. https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html */
const fieldBytesMax = 20 * 1024;
const fieldsMax = 100;
const fileBytesMax = 5 * 1024 ** 3;

/** Stands for the name of the file that the person chose. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: It is S3's own syntax.
const filenameVariable = "${filename}";

export const isForm = ({ method, key, headers }: S3Request): boolean =>
  method === "POST" && key === "" && /^multipart\/form-data\b/i.test(headers["content-type"] ?? "");

/** Takes a form's file as it streams in; its fields come first and decide whether it may. */
export async function postObject(
  store: Store,
  request: S3Request,
  credentials: Credentials,
  now: Date,
): Promise<Answer> {
  requireBucket(store, request.bucket);
  const form = openForm(request);
  const fields = new Map<string, string>();
  let source: Readable | undefined;
  const record = await new Promise<ObjectRecord>((resolve, reject) => {
    form.on("field", (name, value, nameTruncated, valueTruncated) => {
      if (nameTruncated || valueTruncated)
        reject(new S3Error("MalformedPOSTRequest", "A field is too long."));
      fields.set(name.toLowerCase(), value);
    });
    form.on("file", (name, file, filename) => {
      if (name.toLowerCase() !== "file") return reject(new S3Error("MalformedPOSTRequest"));
      // Its failures come out of the pipelines; where none has begun, nobody would listen.
      source = file.on("error", () => {});
      const key = (fields.get("key") ?? "").replaceAll(filenameVariable, filename ?? "");
      const all = new Map([...fields, ["bucket", request.bucket], ["key", key]]);
      receiveFile(store, request, all, file, credentials, now).then(resolve, reject);
    });
    form.on("finish", () => {
      if (!source) reject(new S3Error("InvalidArgument", "The form has no file."));
    });
    pipeline(request.body(), form).catch((error) => {
      const refusal = error instanceof S3Error ? error : new S3Error("MalformedPOSTRequest");
      source?.destroy(refusal);
      reject(refusal);
    });
  }).finally(() => form.destroy());
  return answerTo(fields, record);
}

function openForm(request: S3Request): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": request.headers["content-type"]! },
      limits: { fieldSize: fieldBytesMax, fields: fieldsMax, files: 1, headerPairs: 20 },
    });
  } catch {
    throw new S3Error("MalformedPOSTRequest");
  }
}

async function receiveFile(
  store: Store,
  request: S3Request,
  fields: FormFields,
  source: Readable,
  credentials: Credentials,
  now: Date,
): Promise<ObjectRecord> {
  const { sizeBytesMin, sizeBytesMax } = checkPolicy(fields, credentials, now);
  const key = fields.get("key") ?? "";
  if (key === "") throw new S3Error("InvalidArgument", "The form has no key.");
  checkKey(key);
  const values = Object.fromEntries(fields);
  const headers = storedHeaders(values);
  const announced = checksumsOf(values);
  const { file, result: body } = await store.shelf.write(async (destination) => {
    const measured = await measure(source, destination, {
      sizeBytesMax: Math.min(sizeBytesMax, fileBytesMax),
      algorithms: Object.keys(announced) as ChecksumAlgorithm[],
    });
    if (measured.sizeBytes < sizeBytesMin) throw new S3Error("EntityTooSmall");
    compareChecksums(announced, measured.checksums);
    return measured;
  });
  return store.commit({
    object: {
      bucket: request.bucket,
      key,
      etag: body.md5,
      sizeBytes: body.sizeBytes,
      headers,
      checksums: body.checksums,
      checksumType: "FULL_OBJECT",
      uploadId: null,
    },
    pieces: () => [{ file, sizeBytes: body.sizeBytes }],
    newFiles: [file],
    reason: "POST Object",
    requestId: request.id,
    check: () => {},
  });
}

function answerTo(fields: FormFields, { bucket, key, etag }: ObjectRecord): Answer {
  const location = `/${[bucket, ...key.split("/")].map(uriEncode).join("/")}`;
  const headers = { etag: `"${etag}"`, location };
  const status = fields.get("success_action_status");
  if (status !== "201") return { status: status === "200" ? 200 : 204, headers };
  return {
    status: 201,
    headers,
    xml: xmlDocument(
      "PostResponse",
      element("Location", location),
      element("Bucket", bucket),
      element("Key", key),
      element("ETag", `"${etag}"`),
    ),
  };
}
