import "server-only";
import type { SignedCookie } from "@reelkeep/aws/media-signer";

/**
 * A signed cookie as a Set-Cookie header. Host-only (no Domain): it reaches the media below its Path on this host
 * and nothing else. CloudFront's values use only characters that need no escaping.
 */
export function serializeCookie(cookie: SignedCookie): string {
  const parts = [
    `${cookie.name}=${cookie.value}`,
    `Path=${cookie.path}`,
    `Expires=${cookie.expires.toUTCString()}`,
    "SameSite=Lax",
    "HttpOnly",
  ];
  if (cookie.secure) parts.push("Secure");
  return parts.join("; ");
}
