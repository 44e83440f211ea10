import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
} from "@aws-sdk/client-s3";
import { createS3Client, type StorageConfig } from "./storage-config.ts";
import { headerOf, isMissing, statusOf, toStorageError } from "./storage-errors.ts";

/** What storage tells of an object. The ETag has no quotes. */
export interface StoredObject {
  readonly sizeBytes: number;
  readonly etag: string;
  readonly contentType: string;
  /** Base64; where storage keeps one of the whole object. */
  readonly checksumSha256: string | null;
}

export interface PutOptions {
  readonly contentType: string;
  readonly cacheControl?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Headers as a client sent them. */
export interface OpenRequest {
  readonly range?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly signal?: AbortSignal;
}

/** An object's bytes on their way, or why none come. */
export type OpenedObject =
  | {
      readonly status: "open";
      readonly etag: string;
      readonly lengthBytes: number;
      /** Set where only a part was asked for. */
      readonly contentRange: string | null;
      readonly body: Readable;
    }
  | { readonly status: "not-modified"; readonly etag: string }
  /** `contentRange` tells the size, where storage does. */
  | { readonly status: "range-refused"; readonly contentRange: string | null };

/**
 * The bucket. Keys are whole and relative to it. Every method throws AppError `storage-unavailable` (retryable)
 * when storage doesn't answer; reads with an ETag throw `source-changed` when another object lies there now, and
 * `source-gone` when none does; and the signal's reason when that stops it.
 */
export interface ObjectStore {
  /** Null where there is no such object. */
  head(key: string): Promise<StoredObject | null>;
  /** Bytes `start` to before `end`, of exactly the object with this ETag. */
  readRange(key: string, start: number, end: number, etag: string): Promise<Uint8Array>;
  /** A small object's text. */
  readText(key: string, signal?: AbortSignal): Promise<string>;
  /** Opens an object for whoever asked over HTTP: their Range and If-None-Match are storage's to answer. */
  open(key: string, asked: OpenRequest): Promise<OpenedObject>;
  /** Streams the object with this ETag into a file. */
  download(key: string, filePath: string, options: { etag: string; signal?: AbortSignal }): Promise<void>;
  putFile(key: string, filePath: string, options: PutOptions): Promise<{ etag: string; sizeBytes: number }>;
  putText(key: string, text: string, options: PutOptions): Promise<{ etag: string; sizeBytes: number }>;
  /**
   * Copies the object with this ETag inside storage, with its headers, and answers the copy's own ETag; null where no
   * such object lies at `fromKey`.
   */
  copy(
    fromKey: string,
    toKey: string,
    options: { etag: string; signal?: AbortSignal | undefined },
  ): Promise<string | null>;
  /** Everything whose key begins with `prefix`, page by page. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<{ key: string; sizeBytes: number; etag: string }>;
  /** Missing keys are no failure. */
  remove(keys: readonly string[]): Promise<void>;
  removePrefix(prefix: string): Promise<void>;
  /** Answers storage's id of the new multipart upload. */
  createMultipartUpload(key: string, options: { contentType: string }): Promise<string>;
  /** Nothing happens where it has ended already. */
  abortMultipartUpload(key: string, uploadId: string): Promise<void>;
  listMultipartUploads(prefix: string): Promise<{ key: string; uploadId: string }[]>;
}

/** A delete request takes at most this many keys. https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
const deleteKeysMax = 1000;

export function createObjectStore(config: StorageConfig): ObjectStore {
  const s3 = createS3Client(config);
  const at = (key: string) => ({ Bucket: config.bucket, Key: key });
  const ask = async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      // A body that is cut off by its signal fails like a broken connection.
      signal?.throwIfAborted();
      throw toStorageError(error);
    }
  };
  const abort = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

  const store: ObjectStore = {
    head: (key) =>
      ask(async () => {
        try {
          const head = await s3.send(new HeadObjectCommand({ ...at(key), ChecksumMode: "ENABLED" }));
          return {
            sizeBytes: head.ContentLength ?? 0,
            etag: bare(head.ETag),
            contentType: head.ContentType ?? "",
            checksumSha256: head.ChecksumType === "COMPOSITE" ? null : (head.ChecksumSHA256 ?? null),
          };
        } catch (error) {
          if (isMissing(error)) return null;
          throw error;
        }
      }),

    readRange: (key, start, end, etag) =>
      ask(async () => {
        const range = { Range: `bytes=${start}-${end - 1}`, IfMatch: `"${etag}"` };
        const answer = await s3.send(new GetObjectCommand({ ...at(key), ...range }));
        return answer.Body!.transformToByteArray();
      }),

    readText: (key, signal) =>
      ask(async () => {
        const answer = await s3.send(new GetObjectCommand(at(key)), abort(signal));
        return answer.Body!.transformToString();
      }, signal),

    open: (key, { range, ifNoneMatch, signal }) =>
      ask(async (): Promise<OpenedObject> => {
        const command = new GetObjectCommand({
          ...at(key),
          ...(range ? { Range: range } : {}),
          ...(ifNoneMatch ? { IfNoneMatch: ifNoneMatch } : {}),
        });
        try {
          const answer = await s3.send(command, abort(signal));
          return {
            status: "open",
            etag: bare(answer.ETag),
            lengthBytes: answer.ContentLength ?? 0,
            contentRange: answer.ContentRange ?? null,
            body: answer.Body as Readable,
          };
        } catch (error) {
          if (statusOf(error) === 304)
            return { status: "not-modified", etag: bare(headerOf(error, "etag") ?? ifNoneMatch) };
          if (statusOf(error) === 416)
            return { status: "range-refused", contentRange: headerOf(error, "content-range") ?? null };
          throw error;
        }
      }, signal),

    download: (key, filePath, { etag, signal }) =>
      ask(async () => {
        const answer = await s3.send(
          new GetObjectCommand({ ...at(key), IfMatch: `"${etag}"` }),
          abort(signal),
        );
        await pipeline(answer.Body as Readable, createWriteStream(filePath), signal ? { signal } : {});
      }, signal),

    putFile: (key, filePath, options) =>
      ask(async () => {
        const { size } = await stat(filePath);
        // Read anew at each try of the SDK's would need a rewound stream; one try, and the caller repeats it.
        const body = createReadStream(filePath);
        try {
          const answer = await s3.send(
            new PutObjectCommand({ ...at(key), ...headers(options), Body: body, ContentLength: size }),
            abort(options.signal),
          );
          return { etag: bare(answer.ETag), sizeBytes: size };
        } finally {
          body.destroy();
        }
      }, options.signal),

    putText: (key, text, options) =>
      ask(async () => {
        const body = Buffer.from(text);
        const answer = await s3.send(
          new PutObjectCommand({ ...at(key), ...headers(options), Body: body, ContentLength: body.length }),
          abort(options.signal),
        );
        return { etag: bare(answer.ETag), sizeBytes: body.length };
      }, options.signal),

    copy: (fromKey, toKey, { etag, signal }) =>
      ask(async () => {
        const CopySource = [config.bucket, ...fromKey.split("/")].map(encodeURIComponent).join("/");
        try {
          const answer = await s3.send(
            new CopyObjectCommand({ ...at(toKey), CopySource, CopySourceIfMatch: `"${etag}"` }),
            abort(signal),
          );
          return bare(answer.CopyObjectResult?.ETag);
        } catch (error) {
          if (isMissing(error) || statusOf(error) === 412) return null;
          throw error;
        }
      }, signal),

    async *list(prefix, signal) {
      try {
        const pages = paginateListObjectsV2({ client: s3 }, { Bucket: config.bucket, Prefix: prefix });
        for await (const page of pages) {
          signal?.throwIfAborted();
          for (const { Key, Size, ETag } of page.Contents ?? [])
            yield { key: Key!, sizeBytes: Size ?? 0, etag: bare(ETag) };
        }
      } catch (error) {
        signal?.throwIfAborted();
        throw toStorageError(error);
      }
    },

    remove: (keys) =>
      ask(async () => {
        for (let i = 0; i < keys.length; i += deleteKeysMax) {
          const Objects = keys.slice(i, i + deleteKeysMax).map((Key) => ({ Key }));
          const answer = await s3.send(
            new DeleteObjectsCommand({ Bucket: config.bucket, Delete: { Objects, Quiet: true } }),
          );
          const [failed] = answer.Errors ?? [];
          if (failed) throw new Error(`storage refused to delete: ${failed.Code}`);
        }
      }),

    async removePrefix(prefix) {
      let batch: string[] = [];
      for await (const { key } of store.list(prefix)) {
        batch.push(key);
        if (batch.length === deleteKeysMax) {
          await store.remove(batch);
          batch = [];
        }
      }
      if (batch.length > 0) await store.remove(batch);
    },

    createMultipartUpload: (key, { contentType }) =>
      ask(async () => {
        const answer = await s3.send(
          new CreateMultipartUploadCommand({ ...at(key), ContentType: contentType }),
        );
        return answer.UploadId!;
      }),

    abortMultipartUpload: (key, uploadId) =>
      ask(async () => {
        try {
          await s3.send(new AbortMultipartUploadCommand({ ...at(key), UploadId: uploadId }));
        } catch (error) {
          if (!isMissing(error)) throw error;
        }
      }),

    listMultipartUploads: (prefix) =>
      ask(async () => {
        const found: { key: string; uploadId: string }[] = [];
        let from: { KeyMarker?: string; UploadIdMarker?: string } = {};
        for (;;) {
          const page = await s3.send(
            new ListMultipartUploadsCommand({ Bucket: config.bucket, Prefix: prefix, ...from }),
          );
          for (const { Key, UploadId } of page.Uploads ?? []) found.push({ key: Key!, uploadId: UploadId! });
          if (!page.IsTruncated || !page.NextKeyMarker) return found;
          from = {
            KeyMarker: page.NextKeyMarker,
            ...(page.NextUploadIdMarker ? { UploadIdMarker: page.NextUploadIdMarker } : {}),
          };
        }
      }),
  };
  return store;
}

const bare = (etag: string | undefined) => (etag ?? "").replaceAll('"', "");

const headers = ({ contentType, cacheControl }: PutOptions) => ({
  ContentType: contentType,
  ...(cacheControl ? { CacheControl: cacheControl } : {}),
});
