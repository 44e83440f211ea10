/** How answers go out, also those to requests that were refused half-way. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { S3Error } from "./errors.ts";
import type { Answer } from "./operation.ts";
import { newRequestId } from "./request.ts";
import { errorDocument } from "./xml.ts";

/** An error as an answer. */
export const refusal = (error: S3Error, id: string, resource: string): Answer => ({
  status: error.status,
  headers: error.headers,
  ...(error.status === 304 ? {} : { xml: errorDocument(error, id, resource.split("?", 1)[0] ?? "") }),
});

/** Sends an answer, with the headers that let a page read it. */
export async function send(
  response: ServerResponse,
  id: string,
  { status, headers = {}, xml, stream }: Answer,
  cors: Readonly<Record<string, string>>,
): Promise<void> {
  const body = xml === undefined ? undefined : Buffer.from(xml);
  const isHead = response.req.method === "HEAD";
  response.writeHead(status, {
    "x-amz-request-id": id,
    ...cors,
    ...(body ? { "content-type": "application/xml", "content-length": body.length } : {}),
    ...(!body && !stream && !("content-length" in headers) && status !== 204 && status !== 304
      ? { "content-length": 0 }
      : {}),
    ...headers,
  });
  if (stream && !isHead) return pipeline(stream, response);
  stream?.destroy();
  response.end(isHead ? undefined : body);
}

/** A client that still sends would not read an answer; a little more than a single PUT's usual size is read for it. */
const drainBytesMax = 128 * 1024 ** 2;

/** Reads what is left of a refused body, up to a limit. */
export function drain(message: IncomingMessage): Promise<void> {
  const waits = message.headers.expect?.toLowerCase() === "100-continue" && message.readableFlowing === null;
  if (message.complete || message.destroyed || waits) return Promise.resolve();
  // Else the pipe's own end would pause it again.
  message.unpipe();
  return new Promise((resolve) => {
    let bytes = 0;
    message.on("data", (data: Buffer) => {
      bytes += data.length;
      if (bytes > drainBytesMax) resolve();
    });
    message.once("end", resolve).once("close", resolve).once("error", resolve);
    message.resume();
  });
}

/** Answers what isn't HTTP, or has more headers than fit (16 KiB), before there is a request. */
export function refuseGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const id = newRequestId();
  const tooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const refused = new S3Error(tooLarge ? "RequestHeaderSectionTooLarge" : "InvalidRequest");
  const body = errorDocument(refused, id, "");
  socket.end(
    `HTTP/1.1 ${refused.status} Bad Request\r\nContent-Type: application/xml\r\nx-amz-request-id: ${id}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
