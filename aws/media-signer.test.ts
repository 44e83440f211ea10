import { createVerify, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createMediaSigner } from "./media-signer.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const keys = { keyPairId: "KTEST", privateKeyPem: privateKey };
const signer = createMediaSigner({ baseUrl: "https://media.example.com/", ...keys });
const prefix = "processed/u/a/attempt-1/";
const expiresAt = new Date("2030-01-02T03:04:05.900Z");

const decode = (text: string) =>
  Buffer.from(text.replaceAll("-", "+").replaceAll("_", "=").replaceAll("~", "/"), "base64");
const policyFor = (pattern: string) => ({
  Statement: [
    {
      Resource: `https://media.example.com/${pattern}`,
      Condition: { DateLessThan: { "AWS:EpochTime": 1_893_553_445 } },
    },
  ],
});
const isSigned = (policy: string, signature: string) =>
  createVerify("RSA-SHA256").update(decode(policy)).verify(publicKey, decode(signature));

describe("cookies for one version", () => {
  const cookies = signer.cookiesFor(prefix, expiresAt);
  const value = (name: string) => cookies.find((cookie) => cookie.name === name)!.value;

  it("D2 a custom policy of one prefix and one end, never a canned one", () => {
    expect(cookies.map(({ name }) => name).sort()).toEqual([
      "CloudFront-Hash-Algorithm",
      "CloudFront-Key-Pair-Id",
      "CloudFront-Policy",
      "CloudFront-Signature",
    ]);
    expect(JSON.parse(decode(value("CloudFront-Policy")).toString())).toEqual(policyFor(`${prefix}*`));
  });

  it("D2 the signature is the key's over that very policy, with SHA-256", () => {
    expect(value("CloudFront-Key-Pair-Id")).toBe("KTEST");
    expect(value("CloudFront-Hash-Algorithm")).toBe("SHA256");
    expect(isSigned(value("CloudFront-Policy"), value("CloudFront-Signature"))).toBe(true);
  });

  it("D2 each cookie is of the version's path and of the host alone, and ends with its policy", () => {
    for (const { name: _, value: text, ...attributes } of cookies) {
      expect(attributes).toEqual({ path: `/${prefix}`, expires: expiresAt, secure: true });
      expect(text).toMatch(/^[A-Za-z0-9\-_~]+$/);
    }
  });

  it("D2 without TLS, as on one's own machine, cookies aren't marked secure", () => {
    const local = createMediaSigner({ baseUrl: "http://localhost:8080", ...keys });
    expect(local.baseUrl).toBe("http://localhost:8080");
    expect(local.cookiesFor(prefix, expiresAt).every(({ secure }) => !secure)).toBe(true);
  });
});

describe("signed queries", () => {
  it("D2 a pattern's query carries its custom policy and no address", () => {
    const query = signer.signedQuery("processed/u/*/poster-1.jpg", expiresAt);
    const parts = new URLSearchParams(query);
    expect([...parts.keys()].sort()).toEqual(["Hash-Algorithm", "Key-Pair-Id", "Policy", "Signature"]);
    expect(JSON.parse(decode(parts.get("Policy")!).toString())).toEqual(
      policyFor("processed/u/*/poster-1.jpg"),
    );
    expect(isSigned(parts.get("Policy")!, parts.get("Signature")!)).toBe(true);
  });

  it("D2 the same grant has the same query, so that a browser's cache holds", () => {
    expect(signer.signedQuery("a", expiresAt)).toBe(signer.signedQuery("a", expiresAt));
    expect(signer.signedQuery("a", expiresAt)).not.toBe(signer.signedQuery("b", expiresAt));
  });
});
