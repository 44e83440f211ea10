import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

/** A page's size: the parameter, at most and by default `max`. @throws S3Error `InvalidArgument`. */
export function countParameter(request: S3Request, name: string, max: number): number {
  const text = request.parameter(name);
  if (text === undefined) return max;
  if (!/^\d{1,10}$/.test(text)) throw new S3Error("InvalidArgument", `${name} must be a number.`);
  return Math.min(Number(text), max);
}
