/** Signature Version 4, in headers and in presigned addresses.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

/** The one key pair that may sign, and the region that signatures are for. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** What a valid signature says of the body, and what chunk signatures go on from. */
export interface Authorization {
  /** The value of x-amz-content-sha256: a hash in hex, `UNSIGNED-PAYLOAD`, or a `STREAMING-…` mode. */
  readonly payload: string;
  readonly signature: string;
  /** As in `20261201T120000Z`. */
  readonly timestamp: string;
  /** As in `20261201/us-east-1/s3/aws4_request`. */
  readonly scope: string;
  readonly signingKey: Buffer;
}

interface Claim {
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly timestamp: string;
  readonly payload: string;
  /** Null where the header carries the signature. */
  readonly expiresInSeconds: number | null;
}

const algorithm = "AWS4-HMAC-SHA256";
/** How far the client's clock may be off. */
const skewSecondsMax = 15 * 60;
const expiresInSecondsMax = 7 * 24 * 3600;

/**
 * Checks the signature of a request.
 *
 * @throws S3Error `AccessDenied` for no signature, an expired address or unsigned `x-amz-` headers;
 * `SignatureDoesNotMatch`, `InvalidAccessKeyId`, `RequestTimeTooSkewed`, and codes for malformed ones.
 */
export function authorize(request: S3Request, credentials: Credentials, now: Date): Authorization {
  const claim = readClaim(request);
  const [accessKeyId, day = "", region, service, terminator, ...rest] = claim.credential.split("/");
  if (accessKeyId !== credentials.accessKeyId) throw new S3Error("InvalidAccessKeyId");
  if (region !== credentials.region)
    throw new S3Error(
      "AuthorizationHeaderMalformed",
      `The region '${region}' is wrong; expecting '${credentials.region}'.`,
    );
  if (
    service !== "s3" ||
    terminator !== "aws4_request" ||
    rest.length > 0 ||
    !claim.timestamp.startsWith(day)
  )
    throw new S3Error("AuthorizationHeaderMalformed");
  checkTime(claim, now);
  const signed = claim.signedHeaders.split(";");
  checkSignedHeaders(request, signed, claim);

  const scope = `${day}/${region}/s3/aws4_request`;
  const signingKey = deriveSigningKey(credentials, day);
  const canonical = [
    request.method,
    canonicalPath(request.rawPath),
    canonicalQuery(request),
    ...signed.map((name) => `${name}:${(request.headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    claim.signedHeaders,
    claim.payload,
  ].join("\n");
  const toSign = [algorithm, claim.timestamp, scope, sha256Hex(canonical)].join("\n");
  if (!isSignature(claim.signature, signingKey, toSign)) throw new S3Error("SignatureDoesNotMatch");
  return {
    payload: claim.payload,
    signature: claim.signature,
    timestamp: claim.timestamp,
    scope,
    signingKey,
  };
}

/** The key of one day, which signs requests, chunks and form policies. */
export function deriveSigningKey({ secretAccessKey, region }: Credentials, day: string): Buffer {
  return [day, region, "s3", "aws4_request"].reduce<Buffer>(
    (key, text) => createHmac("sha256", key).update(text).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
}

/** Whether `signature` (hex) is the one of `text`; in constant time. */
export function isSignature(signature: string, signingKey: Buffer, text: string): boolean {
  const expected = createHmac("sha256", signingKey).update(text).digest();
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(signature) ? signature : "", "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export const sha256Hex = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

/** Everything but RFC 3986's unreserved characters is escaped. */
export const uriEncode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const canonicalPath = (rawPath: string): string =>
  rawPath
    .split("/")
    .map((segment) => uriEncode(decodeURIComponent(segment)))
    .join("/");

function canonicalQuery({ query }: S3Request): string {
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return query
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function readClaim(request: S3Request): Claim {
  const { headers } = request;
  if (headers.authorization !== undefined) return readHeaderClaim(headers.authorization, request);
  if (request.parameter("X-Amz-Signature") !== undefined) return readQueryClaim(request);
  throw new S3Error("AccessDenied");
}

function readHeaderClaim(header: string, { headers }: S3Request): Claim {
  const [scheme, fields] = split(header.trim(), " ");
  const values = new Map(fields.split(",").map((field) => split(field.trim(), "=")));
  const [credential, signedHeaders, signature] = [
    values.get("Credential"),
    values.get("SignedHeaders"),
    values.get("Signature"),
  ];
  const timestamp = headers["x-amz-date"];
  if (scheme !== algorithm || !credential || !signedHeaders || !signature || !timestamp)
    throw new S3Error("AuthorizationHeaderMalformed");
  const payload = headers["x-amz-content-sha256"];
  if (!payload) throw new S3Error("InvalidRequest", "x-amz-content-sha256 is missing.");
  return { credential, signedHeaders, signature, timestamp, payload, expiresInSeconds: null };
}

function readQueryClaim(request: S3Request): Claim {
  const need = (name: string): string => {
    const value = request.parameter(name);
    if (!value) throw new S3Error("AuthorizationQueryParametersError", `${name} is missing.`);
    return value;
  };
  if (need("X-Amz-Algorithm") !== algorithm) throw new S3Error("AuthorizationQueryParametersError");
  const expiresInSeconds = Number(need("X-Amz-Expires"));
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > expiresInSecondsMax)
    throw new S3Error("AuthorizationQueryParametersError", "X-Amz-Expires must be 1 to 604800.");
  return {
    credential: need("X-Amz-Credential"),
    signedHeaders: need("X-Amz-SignedHeaders"),
    signature: need("X-Amz-Signature"),
    timestamp: need("X-Amz-Date"),
    payload:
      request.parameter("X-Amz-Content-Sha256") ??
      request.headers["x-amz-content-sha256"] ??
      "UNSIGNED-PAYLOAD",
    expiresInSeconds,
  };
}

function checkTime({ timestamp, expiresInSeconds }: Claim, now: Date): void {
  const at = Date.parse(timestamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!/^\d{8}T\d{6}Z$/.test(timestamp) || Number.isNaN(at))
    throw new S3Error("AuthorizationHeaderMalformed");
  const ageSeconds = (now.getTime() - at) / 1000;
  const tooEarly = ageSeconds < -skewSecondsMax;
  if (expiresInSeconds === null ? tooEarly || ageSeconds > skewSecondsMax : tooEarly)
    throw new S3Error("RequestTimeTooSkewed");
  if (expiresInSeconds !== null && ageSeconds > expiresInSeconds)
    throw new S3Error("AccessDenied", "Request has expired");
}

/** Headers of Amazon's change what a request means, so all of them must be signed, and the host too. */
function checkSignedHeaders({ headers }: S3Request, signed: readonly string[], claim: Claim): void {
  const missing = Object.keys(headers).filter((name) => {
    if (signed.includes(name)) return false;
    // Part of every signature by its value.
    if (name === "x-amz-content-sha256") return headers[name] !== claim.payload;
    return name === "host" || name.startsWith("x-amz-");
  });
  if (!signed.includes("host")) missing.push("host");
  if (missing.length > 0)
    throw new S3Error("AccessDenied", `These headers were not signed: ${[...new Set(missing)].join(", ")}`);
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
