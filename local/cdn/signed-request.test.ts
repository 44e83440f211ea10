import { generateKeyPairSync } from "node:crypto";
import { getSignedCookies, getSignedUrl } from "@aws-sdk/cloudfront-signer";
import { createMediaSigner } from "@reelkeep/aws/media-signer";
import { describe, expect, it } from "vitest";
import { isSigned, readPublicKeys, type SignedRequest } from "./signed-request.ts";
import { cookieHeader, inAnHour, newKeyPair } from "./testing/private-media.ts";

const baseUrl = "http://localhost:8080";
const path = "/processed/u/a/attempt-1/360p/segment_00001.ts";
const trusted = newKeyPair();
const stranger = newKeyPair();
const keys = readPublicKeys({ KTEST: trusted.publicKey });
const signerWith = (privateKeyPem: string, keyPairId = "KTEST") =>
  createMediaSigner({ baseUrl, keyPairId, privateKeyPem });
const signer = signerWith(trusted.privateKey);

const opens = (request: Partial<SignedRequest>, given = keys) =>
  isSigned(
    { baseUrl, path, query: "", cookie: undefined, now: Date.now() / 1000, ip: "::1", ...request },
    given,
  );

const cookiesOf = (prefix: string, from = signer) => cookieHeader(from.cookiesFor(prefix, inAnHour()));
const mine = cookiesOf("processed/u/a/attempt-1/");
const others = cookiesOf("processed/u/b/attempt-1/");

/** What the SDK makes of a canned policy: with an expiry instead of a policy. */
const canned = {
  keyPairId: "KTEST",
  privateKey: trusted.privateKey,
  url: baseUrl + path,
  dateLessThan: inAnHour().toISOString(),
};
const cookiesFrom = (cookies: object) =>
  cookieHeader(Object.entries(cookies).map(([name, value]) => ({ name, value: String(value) })));

describe("signatures of requests", () => {
  it("D4 cookies of the SDK open their prefix and no other", () => {
    expect(opens({ cookie: mine })).toBe(true);
    expect(opens({ cookie: others })).toBe(false);
    expect(opens({})).toBe(false);
  });

  it("D4 SHA-1 and SHA-256, canned and custom, are all told apart as the SDK signs them", () => {
    for (const algorithm of ["SHA1", "SHA256"] as const) {
      const policy = JSON.stringify({
        Statement: [
          { Resource: `${baseUrl}/*`, Condition: { DateLessThan: { "AWS:EpochTime": 4_000_000_000 } } },
        ],
      });
      const custom = { keyPairId: canned.keyPairId, privateKey: canned.privateKey, policy };
      expect(opens({ cookie: cookiesFrom(getSignedCookies({ ...custom, algorithm })) })).toBe(true);
      expect(opens({ cookie: cookiesFrom(getSignedCookies({ ...canned, algorithm })) })).toBe(true);
      const query = new URL(getSignedUrl({ ...canned, algorithm })).search.slice(1);
      expect(opens({ query })).toBe(true);
      expect(opens({ query, path: `${path}2` })).toBe(false);
    }
  });

  it("D4 a signature made with SHA-256 isn't taken without saying so", () => {
    expect(opens({ cookie: mine.replace(/; CloudFront-Hash-Algorithm=SHA256/, "") })).toBe(false);
  });

  it("D4 an EC key's signature opens too", () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", {
      namedCurve: "P-256",
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const cookie = cookiesOf("processed/u/", signerWith(privateKey));
    expect(opens({ cookie }, readPublicKeys({ KTEST: publicKey }))).toBe(true);
  });

  it("D4 forged, foreign, cut or swapped cookies open nothing", () => {
    const forged = signerWith(stranger.privateKey);
    expect(opens({ cookie: cookiesOf("processed/u/a/", forged) })).toBe(false);
    expect(opens({ cookie: cookiesOf("processed/u/a/", signerWith(trusted.privateKey, "KOTHER")) })).toBe(
      false,
    );
    expect(opens({ cookie: cookiesOf("processed/u/a/", signerWith(trusted.privateKey, "__proto__")) })).toBe(
      false,
    );
    const part = (header: string, name: string) =>
      header.split("; ").find((pair) => pair.startsWith(`CloudFront-${name}=`))!;
    const wide = cookiesOf("processed/", forged);
    for (const name of ["Policy", "Signature", "Key-Pair-Id"])
      expect(opens({ cookie: mine.replace(`${part(mine, name)}`, "") })).toBe(false);
    expect(opens({ cookie: mine.replace(part(mine, "Policy"), part(wide, "Policy")) })).toBe(false);
    expect(opens({ cookie: others.replace(part(others, "Policy"), part(mine, "Policy")) })).toBe(false);
    expect(opens({ cookie: mine.replace(/Signature=[^;]*/, "Signature=") })).toBe(false);
    expect(opens({ cookie: mine.replace(/Signature=[^;]*/, "Signature=%00") })).toBe(false);
  });

  it("D4 among several sets, wherever it lies, the one that fits opens", () => {
    expect(opens({ cookie: `${others}; ${mine}` })).toBe(true);
    expect(opens({ cookie: `session=1; ${mine}; ${others}` })).toBe(true);
    expect(opens({ cookie: `${mine}; CloudFront-Policy=stray` })).toBe(true);
    expect(opens({ cookie: `${cookiesFrom(getSignedCookies({ ...canned, url: baseUrl }))}; ${mine}` })).toBe(
      true,
    );
    expect(opens({ cookie: `${others}; ${others}` })).toBe(false);
  });

  it("D4 a signature in the address decides alone, as at the edge", () => {
    const wrong = signer.signedQuery("processed/u/*/poster-1.jpg", inAnHour());
    expect(opens({ cookie: mine, query: wrong })).toBe(false);
    expect(opens({ cookie: mine, query: "v=2" })).toBe(true);
  });

  it("D4 an address of its own query is another address to a policy", () => {
    const query = signer.signedQuery(path.slice(1), inAnHour());
    expect(opens({ query })).toBe(true);
    expect(opens({ query: `size=2&${query}` })).toBe(false);
  });

  it("D4 a key that can't be read is told at the start", () => {
    expect(() => readPublicKeys({ KTEST: "-----BEGIN PUBLIC KEY-----" })).toThrow();
  });
});
