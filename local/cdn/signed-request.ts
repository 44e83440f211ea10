/** Finds what a request was signed with, in its cookies or its query, and checks it with the public keys. */
import { createVerify } from "node:crypto";
import { allows, cannedPolicy, type PolicyRequest, parsePolicy } from "./policy.ts";

/** The key group: key pair ids and their public keys in PEM. */
export type PublicKeys = Readonly<Record<string, string>>;

/** The parts of one signature, as they travel. */
interface Signed {
  readonly keyPairId: string | undefined;
  readonly signature: string | undefined;
  readonly policy: string | undefined;
  readonly expires: string | undefined;
  readonly algorithm: string | undefined;
}

/**
 * Whether the request carries a signature that opens it. A browser sends the cookies of every matching path, the
 * most specific first, so one name may come several times; each complete set is tried, in that order.
 */
export function isSigned(
  request: PolicyRequest & { readonly cookie: string | undefined; readonly query: URLSearchParams },
  keys: PublicKeys,
): boolean {
  return [fromQuery(request.query), ...fromCookies(request.cookie ?? "")].some((signed) =>
    opens(signed, request, keys),
  );
}

function opens(signed: Signed, request: PolicyRequest, keys: PublicKeys): boolean {
  const key =
    signed.keyPairId !== undefined && Object.hasOwn(keys, signed.keyPairId) && keys[signed.keyPairId];
  if (!key || !signed.signature) return false;
  const text = signed.policy
    ? decode(signed.policy).toString("utf8")
    : signed.expires && /^\d+$/.test(signed.expires)
      ? cannedPolicy(request.url, signed.expires)
      : undefined;
  if (text === undefined) return false;
  const verifier = createVerify(signed.algorithm === "SHA256" ? "RSA-SHA256" : "RSA-SHA1").update(text);
  if (!verifier.verify(key, decode(signed.signature))) return false;
  const policy = parsePolicy(text);
  return policy !== null && allows(policy, request);
}

const fromQuery = (query: URLSearchParams): Signed => ({
  keyPairId: query.get("Key-Pair-Id") ?? undefined,
  signature: query.get("Signature") ?? undefined,
  policy: query.get("Policy") ?? undefined,
  expires: query.get("Expires") ?? undefined,
  algorithm: query.get("Hash-Algorithm") ?? undefined,
});

/** More sets than anybody watches at once; the rest is ignored. */
const setsMax = 20;

function fromCookies(header: string): Signed[] {
  const values = new Map<string, string[]>();
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at > 0 && name.startsWith("CloudFront-"))
      values.set(name, [...(values.get(name) ?? []), pair.slice(at + 1).trim()]);
  }
  const all = (name: string) => values.get(`CloudFront-${name}`) ?? [];
  return all("Signature")
    .slice(0, setsMax)
    .map((signature, i) => ({
      signature,
      keyPairId: all("Key-Pair-Id")[i],
      policy: all("Policy")[i],
      expires: all("Expires")[i],
      algorithm: all("Hash-Algorithm")[i],
    }));
}

/** CloudFront's base64: `-`, `_` and `~` for what a URL or a cookie can't hold. */
const decode = (text: string) =>
  Buffer.from(text.replaceAll("-", "+").replaceAll("_", "=").replaceAll("~", "/"), "base64");
