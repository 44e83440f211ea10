import type { Readable } from "node:stream";
import type { S3Request } from "./request.ts";
import type { Authorization } from "./signature.ts";
import type { Store } from "./store.ts";

/** What an operation answers with: an XML document, a stream, or nothing. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly xml?: string;
  readonly stream?: Readable;
}

/** One action of S3's API, on a request that was found to be signed. */
export type Operation = (
  store: Store,
  request: S3Request,
  authorization: Authorization,
) => Answer | Promise<Answer>;
