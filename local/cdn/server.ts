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
import { hasForeignQuery, isSigned, type PublicKeys, readPublicKeys } from "./signed-request.ts";

export interface CdnOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly storage: StorageConfig;
  /** The address that policies name, without a final slash; by default the server's own. */
  readonly baseUrl?: string;
  /** Public keys in PEM, by their key pair ids. */
  readonly keys: Readonly<Record<string, string>>;
  /** Pages that may read answers, with credentials. */
  readonly allowedOrigins: readonly string[];
}

/** A running stand-in. */
export interface Cdn {
  /** The address that policies name. */
  readonly url: string;
  readonly port: number;
  /** Cuts what is still being sent. */
  close(): Promise<void>;
}

/** Starts the stand-in. @throws Error when the port is taken or a key can't be read. */
export async function startCdn(options: CdnOptions): Promise<Cdn> {
  const store = createObjectStore(options.storage);
  const keys = readPublicKeys(options.keys);
  const server = createServer((request, response) => {
    serve(request, response, store, { ...options, baseUrl, keys }).catch(() => response.destroy());
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
  { baseUrl, keys, allowedOrigins }: { baseUrl: string; keys: PublicKeys; allowedOrigins: readonly string[] },
): Promise<void> {
  // Also on refusals: without them a page can't tell "not allowed" from a broken network.
  const originAllowed = allowOrigin(request, response, allowedOrigins);
  if (request.method === "OPTIONS") {
    response.writeHead(204, originAllowed ? preflight : {}).end();
    return;
  }
  if (request.method !== "GET" && request.method !== "HEAD")
    return refuse(response, 405, { allow: "GET, HEAD, OPTIONS" });

  const [path, query] = splitOnce(request.url ?? "/", "?");
  const key = keyOf(path);
  const signed = {
    baseUrl,
    path,
    query,
    cookie: request.headers.cookie,
    now: Date.now() / 1000,
    ip: request.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "",
  };
  // A policy is compared with the whole address, so a query could pass for the end of another file's name.
  if (key === null || hasForeignQuery(query) || !isSigned(signed, keys)) return refuse(response, 403);
  await send(request, response, store, key);
}

function refuse(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "cache-control": "no-store", ...headers }).end();
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
    return refuse(response, status);
  }
  if (object.status === "range-refused")
    return refuse(response, 416, object.contentRange ? { "content-range": object.contentRange } : {});
  const headers: Record<string, string | number> = {
    etag: `"${object.etag}"`,
    "accept-ranges": "bytes",
    "content-type": contentTypeOf(key),
    "x-content-type-options": "nosniff",
    "cache-control": key.endsWith(".m3u8")
      ? "private, max-age=60"
      : `private, max-age=${yearSeconds}, immutable`,
  };
  if (object.status === "not-modified") {
    response.writeHead(304, headers).end();
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

/** Whether the asking page may read the answer; the headers that say so are set. */
function allowOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  allowed: readonly string[],
): boolean {
  response.setHeader("vary", "Origin");
  const { origin } = request.headers;
  if (origin === undefined || !allowed.includes(origin)) return false;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-credentials", "true");
  response.setHeader("access-control-expose-headers", "content-length, content-range, etag");
  return true;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
