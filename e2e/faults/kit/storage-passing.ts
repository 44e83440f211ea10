import { request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";

/** How a request passes. */
export interface PassOptions {
  readonly reset?: "before" | "in-body" | "answer-lost";
  readonly bytesPerSecond?: number;
}

/**
 * Passes a request on and its answer back. Settles when the answer has passed or the connection is broken, whoever
 * broke it.
 */
export async function passOn(
  target: URL,
  request: IncomingMessage,
  response: ServerResponse,
  { reset, bytesPerSecond = Number.POSITIVE_INFINITY }: PassOptions = {},
): Promise<void> {
  // A request that was broken off has none any more.
  const { socket } = request;
  const breakOff = () => void socket.destroy();
  if (reset === "before") return breakOff();
  const far = ask({
    host: target.hostname,
    port: target.port,
    method: request.method,
    path: request.url,
    headers: request.rawHeaders,
    agent: false,
  });
  far.on("error", () => {});
  response.once("close", () => far.destroy());
  const requestBytes = Number(request.headers["content-length"] ?? 0);
  const way = (breakAfterBytes: number) => bodyWay(bytesPerSecond, breakAfterBytes, breakOff);
  const inBody = (bytes: number) => (reset === "in-body" && bytes > 0 ? bytes / 2 : Number.POSITIVE_INFINITY);
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      far.once("response", resolve);
      far.once("error", reject);
    });
    const sent = pipeline(request, way(inBody(requestBytes)), far);
    // The storage may answer before it has read everything; then the answer counts.
    sent.catch(() => {});
    const answer = await answered;
    if (reset === "answer-lost") {
      // Complete: the storage has done it.
      for await (const _ of answer);
      return breakOff();
    }
    response.writeHead(answer.statusCode!, answer.statusMessage, endToEndHeaders(answer.rawHeaders));
    const answerBytes = requestBytes > 0 ? 0 : Number(answer.headers["content-length"] ?? 0);
    await pipeline(answer, way(inBody(answerBytes)), response);
  } catch {
    breakOff();
  }
}

/** A stream that passes at most so many bytes a second, and breaks the connection in a body's middle. */
function bodyWay(bytesPerSecond: number, breakAfterBytes: number, breakOff: () => void): Transform {
  let passedBytes = 0;
  return new Transform({
    highWaterMark: 16 * 1024,
    async transform(chunk: Buffer, _encoding, done) {
      passedBytes += chunk.length;
      if (passedBytes > breakAfterBytes) {
        breakOff();
        return done(new Error("broken off by a test"));
      }
      if (Number.isFinite(bytesPerSecond)) await wait((chunk.length / bytesPerSecond) * 1000);
      done(null, chunk);
    },
  });
}

/** Without those that belong to one connection; node writes them itself. */
function endToEndHeaders(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2)
    if (!/^(connection|keep-alive)$/i.test(raw[at]!)) kept.push(raw[at]!, raw[at + 1]!);
  return kept;
}
