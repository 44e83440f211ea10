import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createS3Client, type StorageConfig } from "./storage-config.ts";

/** A signed address, and the headers that it was signed with and the client must send. */
export interface PresignedRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
}

interface Signed {
  readonly key: string;
  readonly expiresInSeconds: number;
}
type SignedUpload = Signed & { readonly uploadId: string };

/**
 * U2: signs single requests to storage. What must not differ (type, length, checksum, "only if there is nothing
 * yet") is a signed header, so storage itself refuses another one. Content-Length is signed too; browsers set it
 * themselves from the body.
 */
export interface Presigner {
  putObject(
    request: Signed & { contentType: string; sizeBytes: number; checksumSha256Base64?: string | undefined },
  ): Promise<PresignedRequest>;
  uploadPart(request: SignedUpload & { partNumber: number; sizeBytes: number }): Promise<PresignedRequest>;
  listParts(request: SignedUpload): Promise<PresignedRequest>;
  completeMultipartUpload(request: SignedUpload): Promise<PresignedRequest>;
  abortMultipartUpload(request: SignedUpload): Promise<PresignedRequest>;
}

type PresignOptions = NonNullable<Parameters<typeof getSignedUrl>[2]>;

export function createPresigner(config: StorageConfig): Presigner {
  const s3 = createS3Client(config);
  const at = (key: string) => ({ Bucket: config.bucket, Key: key });
  /** `must`: headers that the client has to send as they are here. */
  const sign = async (
    presign: (options: PresignOptions) => Promise<string>,
    expiresIn: number,
    must: Record<string, string> = {},
  ): Promise<PresignedRequest> => {
    const names = new Set(["host", "content-length", ...Object.keys(must)]);
    return {
      url: await presign({ expiresIn, signableHeaders: names, unhoistableHeaders: names }),
      headers: must,
    };
  };

  return {
    putObject({ key, contentType, sizeBytes, checksumSha256Base64, expiresInSeconds }) {
      const headers: Record<string, string> = { "content-type": contentType, "if-none-match": "*" };
      if (checksumSha256Base64) headers["x-amz-checksum-sha256"] = checksumSha256Base64;
      const command = new PutObjectCommand({
        ...at(key),
        ContentType: contentType,
        ContentLength: sizeBytes,
        IfNoneMatch: "*",
        ...(checksumSha256Base64 ? { ChecksumSHA256: checksumSha256Base64 } : {}),
      });
      return sign((options) => getSignedUrl(s3, command, options), expiresInSeconds, headers);
    },

    uploadPart({ key, uploadId, partNumber, sizeBytes, expiresInSeconds }) {
      const part = { UploadId: uploadId, PartNumber: partNumber, ContentLength: sizeBytes };
      const command = new UploadPartCommand({ ...at(key), ...part });
      return sign((options) => getSignedUrl(s3, command, options), expiresInSeconds);
    },

    listParts: ({ key, uploadId, expiresInSeconds }) =>
      sign(
        (options) => getSignedUrl(s3, new ListPartsCommand({ ...at(key), UploadId: uploadId }), options),
        expiresInSeconds,
      ),

    completeMultipartUpload: ({ key, uploadId, expiresInSeconds }) =>
      sign(
        (options) =>
          getSignedUrl(
            s3,
            new CompleteMultipartUploadCommand({ ...at(key), UploadId: uploadId, IfNoneMatch: "*" }),
            options,
          ),
        expiresInSeconds,
        { "if-none-match": "*" },
      ),

    abortMultipartUpload: ({ key, uploadId, expiresInSeconds }) =>
      sign(
        (options) =>
          getSignedUrl(s3, new AbortMultipartUploadCommand({ ...at(key), UploadId: uploadId }), options),
        expiresInSeconds,
      ),
  };
}
