/** Finds what a request was signed with, in its cookies or its query, and checks it with the public keys. */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { allows, cannedPolicy, type PolicyRequest, parsePolicy } from "./policy.ts";

/** The key group: public keys by their key pair ids. */
export type PublicKeys = ReadonlyMap<string, KeyObject>;

/** Reads PEM by key pair id. @throws Error where one isn't a public key. */
export const readPublicKeys = (pems: Readonly<Record<string, string>>): PublicKeys =>
  new Map(Object.entries(pems).map(([id, pem]) => [id, createPublicKey(pem)]));

/** One signature's parts by their names, without the cookies' prefix. */
type Signed = Partial<Record<PartName, string>>;
const partNames = ["Policy", "Expires", "Signature", "Key-Pair-Id", "Hash-Algorithm"] as const;
type PartName = (typeof partNames)[number];
const isPartName = (name: string): name is PartName => (partNames as readonly string[]).includes(name);

/** A request as it came. */
export interface SignedRequest {
  readonly baseUrl: string;
  /** As it came, from its first slash on. */
  readonly path: string;
  /** As it came, without the question mark. */
  readonly query: string;
  readonly cookie: string | undefined;
  readonly now: number;
  readonly ip: string;
}

/**
 * Whether the request carries a signature that opens it. A signature in the query decides alone, whatever the
 * cookies say. A browser sends the cookies of every matching path, the most specific first, so there may be
 * several sets; one that opens it is enough.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-choosing-signed-urls-cookies.html
 */
export function isSigned(request: SignedRequest, keys: PublicKeys): boolean {
  const { signed, rest } = splitQuery(request.query);
  const asked = {
    url: `${request.baseUrl}${request.path}${rest && `?${rest}`}`,
    now: request.now,
    ip: request.ip,
  };
  const sets = signed.Signature === undefined ? readCookies(request.cookie ?? "") : [signed];
  return sets.some((set) => opens(set, asked, keys));
}

function opens(signed: Signed, request: PolicyRequest, keys: PublicKeys): boolean {
  const key = keys.get(signed["Key-Pair-Id"] ?? "");
  const text = policyText(signed, request.url);
  if (!key || text === null || !signed.Signature) return false;
  const algorithm = signed["Hash-Algorithm"] === "SHA256" ? "sha256" : "sha1";
  if (!verify(algorithm, text, key, decode(signed.Signature))) return false;
  const policy = parsePolicy(text.toString("utf8"));
  return policy !== null && allows(policy, request);
}

/** What was signed: the policy that came along or, for a canned one, the text that its expiry stands for. */
function policyText({ Policy, Expires }: Signed, url: string): Buffer | null {
  if (Policy !== undefined) return decode(Policy);
  return Expires !== undefined && /^\d{1,15}$/.test(Expires) ? Buffer.from(cannedPolicy(url, Expires)) : null;
}

/** A policy names the address with its own query, but without what CloudFront has added. */
function splitQuery(query: string): { signed: Signed; rest: string } {
  const signed: Signed = {};
  const rest = query.split("&").filter((pair) => {
    const [[name, value] = ["", ""]] = new URLSearchParams(pair);
    if (!isPartName(name)) return true;
    signed[name] ??= value;
    return false;
  });
  return { signed, rest: rest.join("&") };
}

/** Whether a query has parameters that aren't CloudFront's own. Nothing of ours has any. */
export const hasForeignQuery = (query: string): boolean => query !== "" && splitQuery(query).rest !== "";

/** More sets than anybody watches at once; the rest is ignored. */
const setsMax = 20;

/** The cookies of one path follow each other, so a name that comes again begins the next set. */
function readCookies(header: string): Signed[] {
  const sets: Signed[] = [];
  let set: Signed = {};
  for (const [, name = "", value = ""] of header.matchAll(/(?:^|;)\s*CloudFront-([^=;\s]+)=([^;\s]*)/g)) {
    if (!isPartName(name)) continue;
    if (sets.length === 0 || set[name] !== undefined) {
      if (sets.length === setsMax) break;
      set = {};
      sets.push(set);
    }
    set[name] = value;
  }
  return sets;
}

/** CloudFront's base64: `-`, `_` and `~` for what a URL or a cookie can't hold. */
const decode = (text: string) =>
  Buffer.from(text.replaceAll("-", "+").replaceAll("_", "=").replaceAll("~", "/"), "base64");
