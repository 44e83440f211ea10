/** What may be uploaded and how it travels. The browser and the server use these same functions. */
import { AppError } from "../errors.ts";
import type { UploadMethod } from "./machine.ts";

const mebibyte = 1024 * 1024;

/** Storage's own limits. https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
export const storageLimits = { partBytesMin: 5 * mebibyte, partsMax: 10_000 } as const;

/**
 * U7: parts of an upload that nobody completed are kept for so many days by the bucket's own rule. It is the last net:
 * an upload expires a day after its last signed request, and its parts go with it.
 */
export const incompleteUploadDays = 7;

/** Limits that an installation sets; see the environment table in the README. */
export interface UploadLimits {
  /** Files of at least this size travel in parts. */
  readonly multipartThresholdBytes: number;
  /** The smallest size of a part (the last one may be smaller). */
  readonly partBytesMin: number;
  readonly sizeBytesMax: number;
  readonly durationSecondsMax: number;
  /** Uploads of one person that are allowed and haven't ended: each may hold parts in storage. */
  readonly openUploadsMax: number;
}

export const defaultUploadLimits: UploadLimits = {
  multipartThresholdBytes: 100 * mebibyte,
  partBytesMin: 16 * mebibyte,
  sizeBytesMax: 100 * 1024 * mebibyte,
  durationSecondsMax: 12 * 3600,
  openUploadsMax: 1000,
};

/** Allowed file name endings, and the media types that browsers and systems give such files. */
const videoTypes: Readonly<Record<string, readonly string[]>> = {
  mp4: ["video/mp4", "application/mp4"],
  m4v: ["video/x-m4v", "video/mp4"],
  mov: ["video/quicktime"],
  mkv: ["video/x-matroska", "video/matroska"],
  webm: ["video/webm"],
  avi: ["video/x-msvideo", "video/avi", "video/msvideo", "video/vnd.avi"],
  flv: ["video/x-flv"],
  wmv: ["video/x-ms-wmv", "video/x-ms-asf"],
  asf: ["video/x-ms-asf"],
  mpg: ["video/mpeg"],
  mpeg: ["video/mpeg"],
  ts: ["video/mp2t", "video/vnd.dlna.mpeg-tts"],
  mts: ["video/mp2t", "video/vnd.dlna.mpeg-tts"],
  m2ts: ["video/mp2t", "video/vnd.dlna.mpeg-tts"],
  "3gp": ["video/3gpp", "audio/3gpp"],
  "3g2": ["video/3gpp2"],
  ogv: ["video/ogg"],
  gif: ["image/gif"],
};

/** For a file chooser's `accept`. */
export const acceptedFiles = ["video/*", ...Object.keys(videoTypes).map((extension) => `.${extension}`)];

/** The lower-case ending of a file's name, without the dot; "" where there is none. */
export function extensionOf(filename: string): string {
  return /\.([a-z0-9]{1,5})$/i.exec(filename)?.[1]?.toLowerCase() ?? "";
}

/**
 * The content type to sign and store for a file: the browser's, when it fits the ending, else the ending's own.
 * Browsers leave it empty, or say application/octet-stream, for endings that they don't know.
 * @throws AppError `file-type-not-allowed` for an ending or a type off the list.
 */
export function uploadContentType(filename: string, announced: string): string {
  const allowed = videoTypes[extensionOf(filename)];
  const type = announced.split(";")[0]?.trim().toLowerCase() ?? "";
  if (!allowed) throw new AppError("file-type-not-allowed");
  if (allowed.includes(type)) return type;
  // Name and type need not agree as long as both are video: the signature decides at admission.
  if (type === "" || type === "application/octet-stream" || type.startsWith("video/")) return allowed[0]!;
  throw new AppError("file-type-not-allowed");
}

/** @throws AppError `empty-file` or `file-too-large`. */
export function checkUploadSize(sizeBytes: number, limits: Pick<UploadLimits, "sizeBytesMax">): void {
  if (sizeBytes <= 0) throw new AppError("empty-file");
  if (sizeBytes > limits.sizeBytesMax)
    throw new AppError("file-too-large", { details: { sizeBytes, sizeBytesMax: limits.sizeBytesMax } });
}

/** How a file travels: all parts but the last have `partSizeBytes`. */
export interface TransferPlan {
  readonly method: UploadMethod;
  /** Null for a single PUT. */
  readonly partSizeBytes: number | null;
  readonly partCount: number;
}

/**
 * One PUT below the threshold, else parts of max(partBytesMin, size/900): at most 900 parts, because the browser's
 * client reads only the first page (1,000) of the list of stored parts when it resumes.
 */
export function planTransfer(
  sizeBytes: number,
  limits: Pick<UploadLimits, "multipartThresholdBytes" | "partBytesMin">,
): TransferPlan {
  if (sizeBytes < limits.multipartThresholdBytes) return { method: "put", partSizeBytes: null, partCount: 1 };
  const partSizeBytes = partSizeFor(sizeBytes, limits);
  return { method: "multipart", partSizeBytes, partCount: Math.ceil(sizeBytes / partSizeBytes) };
}

/** The size of all parts but the last, for a file of `sizeBytes` that travels in parts. */
export function partSizeFor(sizeBytes: number, limits: Pick<UploadLimits, "partBytesMin">): number {
  return Math.max(limits.partBytesMin, storageLimits.partBytesMin, Math.ceil(sizeBytes / 900));
}

/** The exact size of part `partNumber` (from 1), or null where the file has no such part. */
export function partLength(sizeBytes: number, partSizeBytes: number, partNumber: number): number | null {
  const start = (partNumber - 1) * partSizeBytes;
  if (!Number.isInteger(partNumber) || partNumber < 1 || start >= sizeBytes) return null;
  return Math.min(partSizeBytes, sizeBytes - start);
}
