import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyBytesMax } from "@reelkeep/core/api/limits";
import { toProblem } from "@reelkeep/core/api/problem";
import { AppError } from "@reelkeep/core/errors";

/**
 * What comes before Next: true where it may have the request, else the refusal was sent.
 *
 * A body that is too long, or doesn't say how long it is, isn't handed on: the routes have the same limit, but pages
 * read bodies by Next's own rules. Sign-ins are counted by the client's address, so the peer's own takes the place
 * of whatever the client says it is.
 */
export function admitRequest(request: IncomingMessage, response: ServerResponse): boolean {
  request.headers["x-forwarded-for"] = request.socket.remoteAddress ?? "";
  if (request.headers["transfer-encoding"] !== undefined)
    return refuse(response, "The request must say how long it is (Content-Length).");
  if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax)
    return refuse(response, "The request is too long.");
  return true;
}

function refuse(response: ServerResponse, message: string): false {
  const error = new AppError("invalid-request", { message });
  // Closing the connection is what keeps the rest of the body from being read.
  const headers = { "content-type": "application/json", "cache-control": "no-store", connection: "close" };
  response.writeHead(error.status, headers).end(JSON.stringify(toProblem(error)));
  return false;
}
