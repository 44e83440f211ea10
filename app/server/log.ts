import "server-only";
import pino from "pino";

/** Structured lines on stdout. No bodies, no cookies, no signed addresses. */
export const log = pino({ name: "web", redact: ["req.headers"] });
