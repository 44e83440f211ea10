import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { drain, refusal, refuseGarbage, send } from "./answering.ts";
import { isBucketName } from "./buckets.ts";
import { type CorsRule, corsHeaders, defaultCorsRules, parseCorsRules, preflightHeaders } from "./cors.ts";
import { S3Error } from "./errors.ts";
import { carryOutLifecycles } from "./lifecycle.ts";
import type { Answer } from "./operation.ts";
import { isForm, postObject } from "./post-object.ts";
import { newRequestId, readRequest, type S3Request, withHoistedHeaders } from "./request.ts";
import { chooseOperation } from "./routes.ts";
import { authorize, type Credentials } from "./signature.ts";
import { openStore, type Store } from "./store.ts";

export interface S3Options {
  /** Made where it is missing. One process at a time may have it. */
  readonly dataDir: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Made where they are missing. */
  readonly buckets?: readonly string[];
  /** Whose pages may use buckets that have no CORS rules of their own. */
  readonly corsOrigins?: readonly string[];
  /** An address that gets events of new objects by POST, at least once each, until it answers with 2xx. */
  readonly eventTarget?: string | undefined;
  /** Only keys below it are told of. */
  readonly eventPrefix?: string | undefined;
  /** What lifecycle rules count their days by. Signatures always go by this machine's clock. */
  readonly now?: () => Date;
  /** Hears of faults of our own. */
  readonly onFault?: (error: unknown) => void;
}

export interface RunningS3 {
  readonly url: string;
  readonly port: number;
  /** Lets requests end, for some seconds, and closes the files. */
  close(): Promise<void>;
}

/** A connection on which nothing moves for so long is cut, and what it had sent is removed. */
const idleSecondsMax = 120;
const closeSecondsMax = 3;
const lifecycleHours = 1;

/** Starts an S3 API on a folder. @throws Error when the port or the folder is taken, or a bucket's name is invalid. */
export async function startS3(options: S3Options): Promise<RunningS3> {
  const { host, port, region, buckets = [], now = () => new Date() } = options;
  const { onFault = (error) => console.error(error) } = options;
  if (!buckets.every(isBucketName)) throw new S3Error("InvalidBucketName");
  const store = await openStore({
    dataDir: options.dataDir,
    region,
    eventTarget: options.eventTarget
      ? { url: options.eventTarget, keyPrefix: options.eventPrefix ?? "" }
      : undefined,
  });
  for (const bucket of buckets) store.transact(() => store.buckets.add(bucket, new Date()));
  const { accessKeyId, secretAccessKey } = options;
  const handle = createHandler(store, {
    credentials: { accessKeyId, secretAccessKey, region },
    corsRules: defaultCorsRules(options.corsOrigins ?? []),
    onFault,
  });

  const underWay = new Set<Promise<void>>();
  const onRequest = (message: IncomingMessage, response: ServerResponse) => {
    const work = handle(message, response).finally(() => underWay.delete(work));
    underWay.add(work);
  };
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000, highWaterMark: 256 * 1024 });
  server.setTimeout(idleSecondsMax * 1000);
  // Whether a client may go on is decided once its headers were checked.
  server.on("request", onRequest).on("checkContinue", onRequest).on("clientError", refuseGarbage);
  try {
    await listen(server, port, host);
  } catch (error) {
    await store.close();
    throw error;
  }
  let sweeping: Promise<void> = Promise.resolve();
  const sweep = () => {
    sweeping = sweeping.then(() => carryOutLifecycles(store, now())).catch(onFault);
  };
  sweep();
  const timer = setInterval(sweep, lifecycleHours * 3600_000).unref();

  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`,
    port: actualPort,
    async close() {
      clearInterval(timer);
      await closeServer(server);
      await Promise.all([...underWay, sweeping]);
      await store.close();
    },
  };
}

function createHandler(
  store: Store,
  {
    credentials,
    corsRules,
    onFault,
  }: {
    credentials: Credentials;
    corsRules: readonly CorsRule[];
    onFault: (error: unknown) => void;
  },
) {
  const rulesOf = (bucket: string): readonly CorsRule[] => {
    const own = store.buckets.document(bucket, "cors");
    return own === null ? corsRules : parseCorsRules(own);
  };

  const answer = async (request: S3Request): Promise<Answer> => {
    if (request.method === "OPTIONS")
      return { status: 204, headers: preflightHeaders(rulesOf(request.bucket), request.headers) };
    const now = new Date();
    if (isForm(request) && !request.headers.authorization)
      return postObject(store, request, credentials, now);
    const authorization = authorize(request, credentials, now);
    const effective = withHoistedHeaders(request);
    return chooseOperation(effective)(store, effective, authorization);
  };

  return async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = newRequestId();
    const { origin } = message.headers;
    let cors: Record<string, string> = {};
    try {
      const request = readRequest(message, response, id);
      if (request.method !== "OPTIONS") cors = corsHeaders(rulesOf(request.bucket), origin, request.method);
      await send(response, id, await answer(request), cors);
    } catch (error) {
      if (!(error instanceof S3Error || isHangUp(error))) onFault(error);
      // Cut, so that the client doesn't take what it has for the whole.
      if (response.headersSent) return void response.destroy();
      const known = error instanceof S3Error ? error : new S3Error("InternalError");
      await drain(message);
      if (!message.complete) response.setHeader("connection", "close");
      await send(response, id, refusal(known, id, message.url ?? ""), cors).catch(() => response.destroy());
    }
  };
}

const hangUps = new Set(["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "EPIPE"]);

/** A client may leave in the middle of an answer, which is no fault of ours. */
const isHangUp = (error: unknown): boolean =>
  error instanceof Error && "code" in error && hangUps.has(String(error.code));

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), closeSecondsMax * 1000);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
