/** Uploads by an HTML form that carries a signed policy.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html */
import { z } from "zod";
import { S3Error } from "./errors.ts";
import { type Credentials, deriveSigningKey, isSignature } from "./signature.ts";

/** A form's fields before the file, by lower-case name. */
export type FormFields = ReadonlyMap<string, string>;

const conditionSchema = z.union([
  z.tuple([z.literal("content-length-range"), z.coerce.number().min(0), z.coerce.number().min(0)]),
  z.tuple([z.enum(["eq", "starts-with"]), z.string().startsWith("$"), z.string()]),
  z.record(z.string(), z.coerce.string()),
]);

const policySchema = z.object({ expiration: z.iso.datetime(), conditions: z.array(conditionSchema) });

/** What the signature itself is made of; a policy can't say anything about it. */
const uncovered = new Set(["policy", "x-amz-signature", "bucket", "file"]);

/**
 * Checks that a form is signed, and that its fields are what the policy wants. Answers how large the file may be.
 *
 * @param fields with `bucket` and the final `key` in them.
 * @throws S3Error `AccessDenied`, `SignatureDoesNotMatch` and others.
 */
export function checkPolicy(
  fields: FormFields,
  credentials: Credentials,
  now: Date,
): { sizeBytesMin: number; sizeBytesMax: number } {
  const field = (name: string) => fields.get(name.toLowerCase()) ?? "";
  checkSignature(field, credentials);
  const policy = readPolicy(field("policy"));
  if (Date.parse(policy.expiration) <= now.getTime()) throw denied("Policy expired.");

  const covered = new Set(uncovered);
  let sizeBytesMin = 0;
  let sizeBytesMax = Number.POSITIVE_INFINITY;
  const demand = (name: string, holds: boolean) => {
    covered.add(name.toLowerCase());
    if (!holds) throw denied(`Policy Condition failed: ${name}`);
  };
  for (const condition of policy.conditions) {
    if (!Array.isArray(condition)) {
      for (const [name, value] of Object.entries(condition)) demand(name, field(name) === value);
    } else if (condition[0] === "content-length-range") {
      sizeBytesMin = Math.max(sizeBytesMin, condition[1]);
      sizeBytesMax = Math.min(sizeBytesMax, condition[2]);
    } else {
      const [operator, variable, value] = condition;
      const name = variable.slice(1);
      demand(name, operator === "eq" ? field(name) === value : field(name).startsWith(value));
    }
  }
  const extra = [...fields.keys()].find((name) => !covered.has(name) && !name.startsWith("x-ignore-"));
  if (extra !== undefined) throw denied(`Extra input fields: ${extra}`);
  return { sizeBytesMin, sizeBytesMax };
}

function checkSignature(field: (name: string) => string, credentials: Credentials): void {
  if (!field("policy") || !field("x-amz-signature")) throw new S3Error("AccessDenied");
  const [accessKeyId, day = "", region, service, terminator] = field("x-amz-credential").split("/");
  if (accessKeyId !== credentials.accessKeyId) throw new S3Error("InvalidAccessKeyId");
  const isOurs = region === credentials.region && service === "s3" && terminator === "aws4_request";
  if (!isOurs || field("x-amz-algorithm") !== "AWS4-HMAC-SHA256")
    throw new S3Error("InvalidRequest", "The form's credential or algorithm isn't for this storage.");
  if (!isSignature(field("x-amz-signature"), deriveSigningKey(credentials, day), field("policy")))
    throw new S3Error("SignatureDoesNotMatch");
}

function readPolicy(base64: string): z.infer<typeof policySchema> {
  try {
    return policySchema.parse(JSON.parse(Buffer.from(base64, "base64").toString("utf8")));
  } catch {
    throw new S3Error("InvalidPolicyDocument");
  }
}

const denied = (why: string) => new S3Error("AccessDenied", `Invalid according to Policy: ${why}`);
