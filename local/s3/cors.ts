/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/ManageCorsUsing.html */
import { z } from "zod";
import { S3Error } from "./errors.ts";
import { parseXml } from "./xml.ts";

/** Patterns of origins and headers may have one `*`. */
export interface CorsRule {
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** Lower case. */
  readonly headers: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly maxAgeSeconds: number | null;
}

const rulesMax = 100;

const schema = z.object({
  CORSRule: z
    .array(
      z.object({
        AllowedOrigin: z.array(z.string().min(1)).min(1),
        AllowedMethod: z.array(z.enum(["GET", "PUT", "POST", "HEAD", "DELETE"])).min(1),
        AllowedHeader: z.array(z.string()).default([]),
        ExposeHeader: z.array(z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/)).default([]),
        MaxAgeSeconds: z
          .string()
          .regex(/^\d{1,9}$/)
          .optional(),
      }),
    )
    .min(1)
    .max(rulesMax),
});

/** @throws S3Error `MalformedXML`. */
export function parseCorsRules(xml: string): CorsRule[] {
  return parseXml(xml, "CORSConfiguration", schema).CORSRule.map((rule) => ({
    origins: rule.AllowedOrigin,
    methods: rule.AllowedMethod,
    headers: rule.AllowedHeader.map((name) => name.toLowerCase()),
    exposedHeaders: rule.ExposeHeader,
    maxAgeSeconds: rule.MaxAgeSeconds === undefined ? null : Number(rule.MaxAgeSeconds),
  }));
}

/** What a bucket has until it gets rules of its own: all that an uploading browser needs, for these origins. */
export const defaultCorsRules = (origins: readonly string[]): CorsRule[] =>
  origins.length === 0
    ? []
    : [
        {
          origins,
          methods: ["GET", "PUT", "POST", "HEAD", "DELETE"],
          headers: ["*"],
          exposedHeaders: ["ETag"],
          maxAgeSeconds: 3000,
        },
      ];

/** The headers that let a page of `origin` read an answer; none where no rule allows it. */
export function corsHeaders(
  rules: readonly CorsRule[],
  origin: string | undefined,
  method: string,
): Record<string, string> {
  const rule = rules.find(
    ({ origins, methods }) => origin !== undefined && allows(origins, origin) && methods.includes(method),
  );
  if (!rule || origin === undefined) return rules.length > 0 ? { vary: "Origin" } : {};
  return {
    "access-control-allow-origin": rule.origins.includes("*") ? "*" : origin,
    ...(rule.exposedHeaders.length > 0
      ? { "access-control-expose-headers": rule.exposedHeaders.join(", ") }
      : {}),
    vary: "Origin",
  };
}

/** The answer to a browser that asks before it sends. @throws S3Error `AccessForbidden`. */
export function preflightHeaders(
  rules: readonly CorsRule[],
  headers: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": asked = "",
  } = headers;
  if (!origin || !method) throw new S3Error("InvalidRequest", "This isn't a CORS preflight.");
  const wanted = asked
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  const rule = rules.find(
    (candidate) =>
      allows(candidate.origins, origin) &&
      candidate.methods.includes(method) &&
      wanted.every((name) => allows(candidate.headers, name)),
  );
  if (!rule) throw new S3Error("AccessForbidden");
  return {
    "access-control-allow-origin": rule.origins.includes("*") ? "*" : origin,
    "access-control-allow-methods": rule.methods.join(", "),
    ...(wanted.length > 0 ? { "access-control-allow-headers": wanted.join(", ") } : {}),
    ...(rule.maxAgeSeconds === null ? {} : { "access-control-max-age": String(rule.maxAgeSeconds) }),
    vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
  };
}

const allows = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => {
    const [before, after, ...more] = pattern.split("*");
    if (after === undefined) return pattern === text;
    return (
      more.length === 0 &&
      text.length >= before!.length + after.length &&
      text.startsWith(before!) &&
      text.endsWith(after)
    );
  });
