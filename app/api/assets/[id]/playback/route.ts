import { playbackRequestSchema } from "@reelkeep/core/api/assets";
import { grantPlayback } from "@reelkeep/services/grant-playback";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { serializeCookie } from "../../../../server/cookies.ts";
import { answer, readBody, readId, route } from "../../../../server/handle.ts";

export const POST = route<{ id: string }>(async (request, { id }) => {
  const actor = await requireActor();
  // Without a content type there is no body, which may be left out.
  const asked = request.headers.has("content-type") ? await readBody(request, playbackRequestSchema) : {};
  const { grant, cookies } = await grantPlayback(serverContext(), actor, readId(id), asked);
  return answer(grant, { setCookies: cookies.map(serializeCookie) });
});
