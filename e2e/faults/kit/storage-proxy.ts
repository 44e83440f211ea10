/** A way to the storage on which tests refuse, lose, hold and slow down requests. Bodies pass byte by byte, and the
 * Host header stays, so signatures hold: whoever signs, signs for the proxy's own address. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type PassOptions, passOn } from "./storage-passing.ts";
import {
  createTraps,
  type Held,
  type HoldingTrap,
  holdingTrap,
  type Trap,
  type TrapOptions,
} from "./traps.ts";

/** Whose address a request came by. Each kind of client has one of its own. */
export const doors = ["workers", "control", "site", "browsers"] as const;
export type Door = (typeof doors)[number];

/** A request on its way to the storage. */
export interface StorageRequest {
  readonly by: Door;
  readonly method: string;
  /** Relative to the bucket; empty for requests to the bucket itself. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** What the client was answered; null until then, and where it never was. */
  status: number | null;
}

/** Which requests are meant. Everything that is given must hold. */
export interface RequestMatch {
  readonly by?: Door;
  readonly method?: string;
  readonly key?: RegExp;
  /** Has this query parameter: `uploads`, `uploadId`, `list-type`. */
  readonly parameter?: string;
}

type StorageFault =
  | { readonly kind: "answer"; readonly status: number }
  | { readonly kind: "hold"; readonly hold: (held: Held) => void }
  | { readonly kind: "hang" }
  | ({ readonly kind: "pass" } & PassOptions);

export interface StorageProxy {
  /** The storage's address for one kind of client, without a final slash. */
  url(door: Door): string;
  /** Everything that was asked so far, the newest last. */
  requests(match?: RequestMatch): StorageRequest[];
  /** Answers in the storage's place after reading the request: 500 InternalError, 503 SlowDown, 507 … */
  answer(status: number, match: RequestMatch, options?: TrapOptions): Trap<StorageRequest>;
  /**
   * Breaks the connection: before the storage hears of it, in the middle of the body (of the request, or of the
   * answer where the request has none), or after the storage has done it, so that only the answer is lost.
   */
  reset(
    when: "before" | "in-body" | "answer-lost",
    match: RequestMatch,
    options?: TrapOptions,
  ): Trap<StorageRequest>;
  /** Passes at most so many bytes a second, in both directions. */
  slow(bytesPerSecond: number, match: RequestMatch, options?: TrapOptions): Trap<StorageRequest>;
  /** Never answers. */
  hang(match: RequestMatch, options?: TrapOptions): Trap<StorageRequest>;
  /** Stops a request before the storage hears of it, until it is released or cut. */
  hold(match: RequestMatch, options?: TrapOptions): HoldingTrap<StorageRequest>;
  /** Breaks all open connections. */
  cutAll(): void;
  /** Takes all faults away. What is held or hangs is cut. */
  heal(): void;
  close(): Promise<void>;
}

/** Starts a proxy before the storage at `endpoint`, whose bucket stands first in each path. */
export async function startStorageProxy(endpoint: string): Promise<StorageProxy> {
  const target = new URL(endpoint);
  const traps = createTraps<StorageRequest, StorageFault>();
  const seen: StorageRequest[] = [];
  const stuck = new Set<Socket>();

  async function handle(by: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const record = describe(by, request);
    const { socket } = request;
    seen.push(record);
    response.once("finish", () => {
      record.status = response.statusCode;
    });
    const { action, tell = () => {} } = traps.spring(record) ?? {};
    if (action?.kind === "answer") {
      await answerWith(action.status, request, response);
      tell(record);
    } else if (action?.kind === "hang" || action?.kind === "hold") {
      stuck.add(socket);
      if (action.kind === "hold")
        action.hold({
          release: () => {
            stuck.delete(socket);
            if (!request.destroyed) void passOn(target, request, response);
          },
          cut: () => void socket.destroy(),
        });
      tell(record);
    } else {
      await passOn(target, request, response, action);
      tell(record);
    }
  }

  const servers = new Map<Door, Server>();
  for (const door of doors) {
    const server = createServer((request, response) => void handle(door, request, response));
    // Longer than any client keeps one, so that no connection breaks that a test didn't break.
    server.keepAliveTimeout = 120_000;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.set(door, server);
  }

  const set = (match: RequestMatch, fault: StorageFault, options?: TrapOptions) =>
    traps.set(nameOf(fault, match), (request) => matches(request, match), fault, options);
  const heal = () => {
    traps.disarmAll();
    for (const socket of stuck) socket.destroy();
    stuck.clear();
  };
  const cutAll = () => {
    for (const server of servers.values()) server.closeAllConnections();
  };
  return {
    url: (door) => `http://localhost:${(servers.get(door)!.address() as AddressInfo).port}`,
    requests: (match = {}) => seen.filter((request) => matches(request, match)),
    answer: (status, match, options) => set(match, { kind: "answer", status }, options),
    reset: (when, match, options) => set(match, { kind: "pass", reset: when }, options),
    slow: (bytesPerSecond, match, options) => set(match, { kind: "pass", bytesPerSecond }, options),
    hang: (match, options) => set(match, { kind: "hang" }, options),
    hold: (match, options) => holdingTrap((hold) => set(match, { kind: "hold", hold }, options)),
    cutAll,
    heal,
    async close() {
      heal();
      for (const server of servers.values()) server.close();
      cutAll();
    },
  };
}

function describe(by: Door, { method = "", url = "" }: IncomingMessage): StorageRequest {
  const { pathname, searchParams } = new URL(url, "http://storage");
  const [, , ...key] = pathname.split("/");
  return { by, method, key: decodeURIComponent(key.join("/")), query: searchParams, status: null };
}

const matches = (request: StorageRequest, { by, method, key, parameter }: RequestMatch): boolean =>
  (by === undefined || request.by === by) &&
  (method === undefined || request.method === method) &&
  (key?.test(request.key) ?? true) &&
  (parameter === undefined || request.query.has(parameter));

const nameOf = ({ kind, ...how }: StorageFault, match: RequestMatch): string =>
  [kind, ...Object.entries({ ...how, ...match }).map(([name, value]) => `${name} ${value}`)].join(", ");

const codes: Readonly<Record<number, string>> = {
  500: "InternalError",
  503: "SlowDown",
  507: "QuotaExceeded",
};

/** As S3 answers: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
async function answerWith(status: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  if (!request.complete) await once(request, "end").catch(() => {});
  const code = codes[status] ?? "InternalError";
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>A fault of a test.</Message></Error>`;
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(request.method === "HEAD" ? undefined : body);
}
