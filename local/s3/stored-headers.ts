import { validateHeaderName, validateHeaderValue } from "node:http";
import { S3Error } from "./errors.ts";
import type { QueryParameters } from "./request.ts";

type Headers = Readonly<Record<string, string | undefined>>;

const kept = ["cache-control", "content-disposition", "content-language", "content-type", "expires"];
/** What every object without a type has in S3. */
const defaultContentType = "binary/octet-stream";

/**
 * The headers that stay with an object: its type and the like, and x-amz-meta-….
 *
 * @throws S3Error `InvalidArgument` for what couldn't be sent as a header again (a form's field may be such).
 */
export function storedHeaders(headers: Headers): Record<string, string> {
  const found: Record<string, string> = { "content-type": defaultContentType };
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && value !== "" && (kept.includes(name) || name.startsWith("x-amz-meta-")))
      found[name] = value;
  const encodings = (headers["content-encoding"] ?? "")
    .split(",")
    .map((encoding) => encoding.trim())
    // The framing of the transfer, not the object's.
    .filter((encoding) => encoding !== "" && encoding !== "aws-chunked");
  if (encodings.length > 0) found["content-encoding"] = encodings.join(",");
  for (const [name, value] of Object.entries(found)) checkHeader(name, value);
  return found;
}

/** What a signed address says instead of the object's own headers: response-content-type and others. */
export function overriddenHeaders(query: QueryParameters): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [parameter, value] of query) {
    const name = parameter.replace(/^response-/, "");
    if (name === parameter || !(kept.includes(name) || name === "content-encoding")) continue;
    checkHeader(name, value);
    found[name] = value;
  }
  return found;
}

function checkHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new S3Error("InvalidArgument", `${name} and its value can't be a header.`);
  }
}
