import { getSignedCookies, getSignedUrl } from "@aws-sdk/cloudfront-signer";

/** A cookie that CloudFront verifies. Host-only; it opens what lies below `path` until `expires`. */
export interface SignedCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly expires: Date;
  readonly secure: boolean;
}

/** Signs what the CDN lets through. Always custom policies: a canned one has no wildcard. */
export interface MediaSigner {
  /** The CDN's address, without a final slash. */
  readonly baseUrl: string;
  /** Cookies for everything below `prefix` (with its final slash, relative to the bucket). */
  cookiesFor(prefix: string, expiresAt: Date): SignedCookie[];
  /** A query string that opens the addresses of `pattern` (relative to the bucket; `*` stands for anything). */
  signedQuery(pattern: string, expiresAt: Date): string;
}

/**
 * CloudFront's signed cookies and URLs, RSA with SHA-256.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-setting-signed-cookie-custom-policy.html
 */
export function createMediaSigner(config: {
  baseUrl: string;
  keyPairId: string;
  privateKeyPem: string;
}): MediaSigner {
  const baseUrl = config.baseUrl.replace(/\/$/, "");
  const secure = baseUrl.startsWith("https:");
  const key = { keyPairId: config.keyPairId, privateKey: config.privateKeyPem, algorithm: "SHA256" } as const;
  const policy = (pattern: string, expiresAt: Date) =>
    JSON.stringify({
      Statement: [
        {
          Resource: `${baseUrl}/${pattern}`,
          Condition: { DateLessThan: { "AWS:EpochTime": Math.floor(expiresAt.getTime() / 1000) } },
        },
      ],
    });
  return {
    baseUrl,
    cookiesFor(prefix, expires) {
      const cookies = getSignedCookies({ ...key, policy: policy(`${prefix}*`, expires) });
      return Object.entries(cookies).map(([name, value]) => ({
        name,
        value: String(value),
        path: `/${prefix}`,
        expires,
        secure,
      }));
    },
    signedQuery(pattern, expiresAt) {
      const url = getSignedUrl({ ...key, url: `${baseUrl}/`, policy: policy(pattern, expiresAt) });
      return new URL(url).search.slice(1);
    },
  };
}
