/** S3's error codes that we answer with: HTTP status and sentence.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const codes = {
  AccessDenied: [403, "Access Denied"],
  AccessForbidden: [403, "This CORS request is not allowed."],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed."],
  AuthorizationQueryParametersError: [400, "The query parameters of the signature are malformed."],
  BadDigest: [400, "The checksum that was sent doesn't match the content that arrived."],
  BucketAlreadyOwnedByYou: [409, "The bucket exists already and is yours."],
  BucketNotEmpty: [409, "The bucket still holds objects."],
  EntityTooLarge: [400, "The upload is larger than what is allowed."],
  EntityTooSmall: [400, "The upload is smaller than what is allowed."],
  IncompleteBody: [400, "The body has another length than was announced."],
  InternalError: [500, "The storage met a fault of its own. Try again."],
  InvalidAccessKeyId: [403, "The access key doesn't exist."],
  InvalidArgument: [400, "An argument is invalid."],
  InvalidBucketName: [400, "The bucket's name is invalid."],
  InvalidDigest: [400, "The checksum isn't well-formed."],
  InvalidPart: [400, "A part is missing, or its ETag is another one."],
  InvalidPartOrder: [400, "The parts are not in ascending order."],
  InvalidPolicyDocument: [400, "The form's policy is malformed."],
  InvalidRange: [416, "The range can't be satisfied."],
  InvalidRequest: [400, "The request is invalid."],
  InvalidURI: [400, "The address can't be read."],
  KeyTooLongError: [400, "The key is longer than 1024 bytes."],
  MalformedPOSTRequest: [400, "The form isn't well-formed multipart/form-data."],
  MalformedXML: [400, "The XML isn't well-formed, or isn't what this request needs."],
  MethodNotAllowed: [405, "This method isn't allowed here."],
  MissingContentLength: [411, "Content-Length is missing."],
  NoSuchBucket: [404, "The bucket doesn't exist."],
  NoSuchBucketPolicy: [404, "The bucket has no such policy."],
  NoSuchCORSConfiguration: [404, "The bucket has no CORS configuration."],
  NoSuchKey: [404, "The key doesn't exist."],
  NoSuchLifecycleConfiguration: [404, "The bucket has no lifecycle configuration."],
  NoSuchUpload: [404, "The multipart upload doesn't exist. It may have been completed or aborted."],
  NotImplemented: [501, "This local storage doesn't do that."],
  NotModified: [304, "Not Modified"],
  PreconditionFailed: [412, "A precondition doesn't hold."],
  RequestHeaderSectionTooLarge: [400, "The request's headers are too large."],
  RequestTimeTooSkewed: [403, "The request's time differs too much from the storage's."],
  SignatureDoesNotMatch: [
    403,
    "The signature that was calculated here isn't the one that was sent. Check the key and what was signed.",
  ],
  XAmzContentSHA256Mismatch: [400, "x-amz-content-sha256 doesn't match the content that arrived."],
} as const satisfies Record<string, readonly [number, string]>;

export type S3ErrorCode = keyof typeof codes;

/** An answer of S3's other than success. `message` is sent to the client. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: S3ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: S3ErrorCode, message?: string, headers: Record<string, string> = {}) {
    super(message ?? codes[code][1]);
    this.code = code;
    this.status = codes[code][0];
    this.headers = headers;
  }
}
