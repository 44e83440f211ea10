import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { AwsChunkedDecoder } from "./aws-chunked.ts";
import { type Authorization, deriveSigningKey } from "./signature.ts";

/** The example of Amazon's documentation. https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html */
const authorization: Authorization = {
  payload: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
  signature: "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
  timestamp: "20130524T000000Z",
  scope: "20130524/us-east-1/s3/aws4_request",
  signingKey: deriveSigningKey(
    {
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      region: "us-east-1",
    },
    "20130524",
  ),
};
const signatures = [
  "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
  "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
  "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
];
const sizes = [65536, 1024, 0];
const example = Buffer.from(
  sizes
    .map((size, i) => `${size.toString(16)};chunk-signature=${signatures[i]}\r\n${"a".repeat(size)}\r\n`)
    .join(""),
);

async function decode(stream: Buffer, payload = authorization.payload, pieceBytes = 1000) {
  const pieces = Array.from({ length: Math.ceil(stream.length / pieceBytes) }, (_, i) =>
    stream.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  );
  const decoder = new AwsChunkedDecoder({ ...authorization, payload });
  const out = new PassThrough({ highWaterMark: 1 << 20 });
  const [, body] = await Promise.all([pipeline(Readable.from(pieces), decoder, out), buffer(out)]);
  return { body, trailers: decoder.trailers };
}

describe("aws-chunked", () => {
  it.each([1, 7, 1000, 100_000])(
    "U2 verifies the documented example in pieces of %d bytes",
    async (bytes) => {
      const { body } = await decode(example, authorization.payload, bytes);
      expect(body.equals(Buffer.alloc(66_560, "a"))).toBe(true);
    },
  );

  it("U2 refuses a chunk with another byte, another order or another signature", async () => {
    const flipped = Buffer.from(example);
    flipped[200] = 98;
    await expect(decode(flipped)).rejects.toMatchObject({ code: "SignatureDoesNotMatch" });
    const resigned = Buffer.from(example.toString().replace(signatures[1]!, signatures[0]!));
    await expect(decode(resigned)).rejects.toMatchObject({ code: "SignatureDoesNotMatch" });
    const unsigned = Buffer.from(example.toString().replaceAll(/;chunk-signature=\w+/g, ""));
    await expect(decode(unsigned)).rejects.toMatchObject({ code: "SignatureDoesNotMatch" });
  });

  it("U2 refuses a stream that ends early, wherever it is cut", async () => {
    const short = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:abc\r\n\r\n";
    const mode = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    const whole = await decode(Buffer.from(short), mode);
    expect(whole.body.toString()).toBe("hello");
    expect(whole.trailers).toEqual(new Map([["x-amz-checksum-crc32", "abc"]]));
    for (let end = 0; end < short.length; end++)
      await expect(decode(Buffer.from(short.slice(0, end)), mode)).rejects.toMatchObject({
        code: "IncompleteBody",
      });
  });

  it.each(["zz\r\n", "-1\r\n\r\n", "5\r\nhello!\r\n", `${"1".repeat(5000)}`, "0\r\n\r\nmore"])(
    "refuses malformed framing %#",
    async (text) => {
      await expect(decode(Buffer.from(text), "STREAMING-UNSIGNED-PAYLOAD-TRAILER")).rejects.toMatchObject({
        code: "InvalidRequest",
      });
    },
  );

  it("refuses modes that S3 doesn't have", () => {
    expect(() => new AwsChunkedDecoder({ ...authorization, payload: "STREAMING-ANYTHING" })).toThrow();
  });
});
