import { createHash } from "node:crypto";
import { giveUpUpload } from "@reelkeep/services/expire-uploads";
import { getMediaStatus } from "@reelkeep/services/get-media-status";
import { requireActor, serverContext } from "../../../server/context.ts";
import { answer, readId, route } from "../../../server/handle.ts";

/** Polled: an unchanged status is a 304 without a body. */
export const GET = route<{ actionKey: string }>(async (request, { actionKey }) => {
  const status = await getMediaStatus(serverContext(), await requireActor(), readId(actionKey));
  const body = JSON.stringify(status);
  const etag = `"${createHash("sha1").update(body).digest("base64url")}"`;
  const headers = { "cache-control": "private, no-cache", etag };
  if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
});

export const DELETE = route<{ actionKey: string }>(async (_request, { actionKey }) => {
  await giveUpUpload(serverContext(), await requireActor(), readId(actionKey));
  return answer(null);
});
