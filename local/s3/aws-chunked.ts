import { createHash, type Hash } from "node:crypto";
import { Transform, type TransformCallback } from "node:stream";
import { S3Error } from "./errors.ts";
import { type Authorization, isSignature, sha256Hex } from "./signature.ts";

/** Longest line of the framing: a size with a signature, or a trailer. */
const lineBytesMax = 4096;
const trailersMax = 16;

/**
 * Takes the framing of `Content-Encoding: aws-chunked` away. Where the mode has signatures, every chunk's and the
 * trailers' are verified, each going on from the one before; a stream that ends early is refused.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and sigv4-streaming-trailers.html
 */
export class AwsChunkedDecoder extends Transform {
  /** Lower-case names; complete when the stream has ended. */
  readonly trailers = new Map<string, string>();
  readonly #authorization: Authorization;
  readonly #signed: boolean;
  #previousSignature: string;
  #chunkSignature = "";
  #chunkHash: Hash | null = null;
  #chunkBytesLeft = 0;
  #expects: "size" | "data" | "data-end" | "trailer" | "nothing" = "size";
  #line: Buffer = Buffer.alloc(0);

  /** @throws S3Error `InvalidRequest` for a mode that S3 doesn't have. */
  constructor(authorization: Authorization) {
    super();
    this.#authorization = authorization;
    this.#previousSignature = authorization.signature;
    this.#signed = isSignedMode(authorization.payload);
  }

  override _transform(data: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.#decode(data);
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    done(this.#expects === "nothing" ? null : new S3Error("IncompleteBody"));
  }

  #decode(arrived: Buffer): void {
    let data = arrived;
    while (data.length > 0) {
      if (this.#expects === "nothing")
        throw new S3Error("InvalidRequest", "There are bytes after the last chunk.");
      if (this.#expects === "data") {
        const part = data.subarray(0, this.#chunkBytesLeft);
        data = data.subarray(part.length);
        this.#takeData(part);
        continue;
      }
      const end = data.indexOf(10);
      const piece = end < 0 ? data : data.subarray(0, end + 1);
      data = data.subarray(piece.length);
      this.#line = this.#line.length > 0 ? Buffer.concat([this.#line, piece]) : piece;
      if (this.#line.length > lineBytesMax)
        throw new S3Error("InvalidRequest", "A chunk's header is too long.");
      if (end < 0) return;
      const line = this.#line.toString("latin1").replace(/\r?\n$/, "");
      this.#line = Buffer.alloc(0);
      this.#takeLine(line);
    }
  }

  #takeData(part: Buffer): void {
    this.#chunkHash?.update(part);
    this.#chunkBytesLeft -= part.length;
    this.push(part);
    if (this.#chunkBytesLeft > 0) return;
    if (this.#chunkHash) this.#verifyChunk(this.#chunkHash.digest("hex"));
    this.#expects = "data-end";
  }

  #takeLine(line: string): void {
    switch (this.#expects) {
      case "size":
        this.#startChunk(line);
        break;
      case "data-end":
        if (line !== "") throw new S3Error("InvalidRequest", "A chunk is longer than its header says.");
        this.#expects = "size";
        break;
      default:
        if (line === "") this.#finish();
        else this.#takeTrailer(line);
    }
  }

  #startChunk(line: string): void {
    const [, size, signature = ""] =
      /^([0-9a-f]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(line) ?? [];
    if (size === undefined) throw new S3Error("InvalidRequest", "A chunk's header is malformed.");
    this.#chunkBytesLeft = Number.parseInt(size, 16);
    this.#chunkSignature = signature;
    this.#chunkHash = this.#signed ? createHash("sha256") : null;
    if (this.#chunkBytesLeft > 0) {
      this.#expects = "data";
      return;
    }
    if (this.#chunkHash) this.#verifyChunk(this.#chunkHash.digest("hex"));
    this.#expects = "trailer";
  }

  #takeTrailer(line: string): void {
    const colon = line.indexOf(":");
    if (colon < 1 || this.trailers.size >= trailersMax)
      throw new S3Error("InvalidRequest", "A trailer is malformed.");
    this.trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }

  #finish(): void {
    const signature = this.trailers.get("x-amz-trailer-signature");
    this.trailers.delete("x-amz-trailer-signature");
    if (this.#signed && this.#authorization.payload.endsWith("-TRAILER")) {
      const canonical = [...this.trailers].map(([name, value]) => `${name}:${value}\n`).join("");
      this.#verify(signature ?? "", "AWS4-HMAC-SHA256-TRAILER", sha256Hex(canonical));
    }
    this.#expects = "nothing";
  }

  #verifyChunk(contentHash: string): void {
    this.#verify(this.#chunkSignature, "AWS4-HMAC-SHA256-PAYLOAD", sha256Hex(""), contentHash);
    this.#previousSignature = this.#chunkSignature;
  }

  #verify(signature: string, algorithm: string, ...hashes: string[]): void {
    const { timestamp, scope, signingKey } = this.#authorization;
    const text = [algorithm, timestamp, scope, this.#previousSignature, ...hashes].join("\n");
    if (!isSignature(signature, signingKey, text)) throw new S3Error("SignatureDoesNotMatch");
  }
}

function isSignedMode(payload: string): boolean {
  switch (payload) {
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
      return true;
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
      return false;
    default:
      throw new S3Error("InvalidRequest", `x-amz-content-sha256 can't be ${payload}.`);
  }
}
