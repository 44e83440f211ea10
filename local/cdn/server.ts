/**
 * The local stand-in for CloudFront: it serves the processed prefix of the bucket to whoever carries a valid
 * signature, so that what is denied in production is denied here.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { createObjectStore, type ObjectStore } from "@reelkeep/aws/object-store";
import type { StorageConfig } from "@reelkeep/aws/storage-config";
import { AppError } from "@reelkeep/core/errors";
import { contentTypeOf, processedPrefix } from "@reelkeep/core/object-keys";
import { isSigned, type PublicKeys } from "./signed-request.ts";

export interface CdnOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly storage: StorageConfig;
  /** The address that policies name, without a final slash; by default the server's own. */
  readonly baseUrl?: string;
  readonly keys: PublicKeys;
  /** Pages that may read answers, with credentials. */
  readonly allowedOrigins: readonly string[];
}

export interface Cdn {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function startCdn(options: CdnOptions): Promise<Cdn> {
  const store = createObjectStore(options.storage);
  const server = createServer((request, response) => {
    serve(request, response, store, { ...options, baseUrl }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = options.baseUrl ?? `http://${options.host}:${port}`;
  return {
    url: baseUrl,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  store: ObjectStore,
  options: CdnOptions & { baseUrl: string },
): Promise<void> {
  const end = (status: number, headers: Record<string, string> = {}) => {
    response.writeHead(status, headers).end();
  };
  // Also on refusals: without them a page can't tell "not allowed" from a broken network.
  allowOrigin(request, response, options.allowedOrigins);
  if (request.method === "OPTIONS") return end(204, preflight);
  if (request.method !== "GET" && request.method !== "HEAD") return end(405, { allow: "GET, HEAD, OPTIONS" });

  const [path = "", query = ""] = splitOnce(request.url ?? "/", "?");
  const key = keyOf(path);
  if (key === null) return end(403);
  const signed = isSigned(
    {
      url: `${options.baseUrl}${path}`,
      now: Date.now() / 1000,
      ip: request.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "",
      cookie: request.headers.cookie,
      query: new URLSearchParams(query),
    },
    options.keys,
  );
  if (!signed) return end(403, { "cache-control": "no-store" });
  await send(request, response, store, key);
}

/**
 * The key that a path names, or null where it isn't plainly one of ours: only characters that our keys have, so
 * there is nothing to decode and nothing that two readers could understand differently.
 */
function keyOf(path: string): string | null {
  const key = path.slice(1);
  const plain = /^[A-Za-z0-9_\-./]+$/.test(key) && !key.split("/").some((part) => /^\.*$/.test(part));
  return plain && key.startsWith(processedPrefix) ? key : null;
}

const yearSeconds = 31_536_000;

/** Neither the query nor a cookie reaches storage: the same bytes for everybody who may have them. */
async function send(
  request: IncomingMessage,
  response: ServerResponse,
  store: ObjectStore,
  key: string,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  let object: Awaited<ReturnType<ObjectStore["open"]>>;
  try {
    object = await store.open(key, {
      range: request.headers.range,
      ifNoneMatch: request.headers["if-none-match"],
      signal: gone.signal,
    });
  } catch (error) {
    const status = error instanceof AppError && error.code === "source-gone" ? 404 : 502;
    response.writeHead(status, { "cache-control": "no-store" }).end();
    return;
  }
  const headers: Record<string, string | number> = {
    etag: `"${object.etag}"`,
    "accept-ranges": "bytes",
    "content-type": contentTypeOf(key),
    "cache-control": key.endsWith(".m3u8")
      ? "private, max-age=60"
      : `private, max-age=${yearSeconds}, immutable`,
  };
  if (object.status !== "open") {
    if (object.status === "not-modified") response.writeHead(304, headers).end();
    else response.writeHead(416, { "cache-control": "no-store" }).end();
    return;
  }
  headers["content-length"] = object.lengthBytes;
  if (object.contentRange) headers["content-range"] = object.contentRange;
  response.writeHead(object.contentRange ? 206 : 200, headers);
  if (request.method === "HEAD") {
    object.body.destroy();
    response.end();
    return;
  }
  // A viewer who leaves in the middle is nobody's fault.
  await pipeline(object.body, response).catch(() => {});
}

const preflight = {
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "range, if-none-match",
  "access-control-max-age": "600",
};

function allowOrigin(request: IncomingMessage, response: ServerResponse, allowed: readonly string[]): void {
  response.setHeader("vary", "Origin");
  const { origin } = request.headers;
  if (origin === undefined || !allowed.includes(origin)) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-credentials", "true");
  response.setHeader("access-control-expose-headers", "content-length, content-range, etag");
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
