import "server-only";
import { toProblem } from "@reelkeep/core/api/problem";
import { AppError, toAppError } from "@reelkeep/core/errors";
import { uuidSchema } from "@reelkeep/core/ids";
import type { NextRequest } from "next/server";
import { z } from "zod";
import { readText } from "./body.ts";
import { serverContext } from "./context.ts";
import { log } from "./log.ts";

type Params = Record<string, string>;
type Handler<P extends Params> = (request: NextRequest, params: P) => Promise<Response>;

/**
 * Wraps a route: its failures become problems, never stack traces, and requests that change something must come
 * from our own pages (a foreign site can't make a signed-in browser act).
 */
export function route<P extends Params = Params>(handler: Handler<P>) {
  return async (request: NextRequest, { params }: { params: Promise<P> }): Promise<Response> => {
    try {
      requireOwnOrigin(request);
      return await handler(request, await params);
    } catch (cause) {
      const error = cause instanceof z.ZodError ? invalid(cause) : toAppError(cause);
      if (error.status >= 500)
        log.error({ err: cause, code: error.code, path: request.nextUrl.pathname }, "request failed");
      return answer(toProblem(error), { status: error.status });
    }
  };
}

/** A JSON answer that no cache keeps. */
export function answer(
  body: unknown,
  init: { status?: number; setCookies?: readonly string[] } = {},
): Response {
  const headers = new Headers({ "cache-control": "private, no-store" });
  for (const cookie of init.setCookies ?? []) headers.append("set-cookie", cookie);
  return body === null
    ? new Response(null, { status: init.status ?? 204, headers })
    : Response.json(body, { status: init.status ?? 200, headers });
}

/** The request's JSON, checked. @throws AppError `invalid-request`. */
export async function readBody<S extends z.ZodType>(request: NextRequest, schema: S): Promise<z.infer<S>> {
  const text = await readText(request);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new AppError("invalid-request", { message: "The request isn't JSON.", cause });
  }
  return schema.parse(json);
}

/** An id in the address; one that isn't well-formed names nothing. @throws AppError `not-found`. */
export function readId(value: string | undefined): string {
  const id = uuidSchema.safeParse(value);
  if (!id.success) throw new AppError("not-found");
  return id.data;
}

function requireOwnOrigin(request: NextRequest): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const own = new URL(serverContext().appUrl).origin;
  // Programs (scripts, curl) send neither header and carry no browser's cookies by accident.
  if ((origin !== null && origin !== own) || site === "cross-site")
    throw new AppError("forbidden", { message: `Requests must come from ${own}.` });
}

function invalid(error: z.ZodError): AppError {
  const [first] = error.issues;
  const fields = error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  return new AppError("invalid-request", {
    ...(first ? { message: first.message } : {}),
    details: { fields },
  });
}
