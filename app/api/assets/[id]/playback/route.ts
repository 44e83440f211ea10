import { grantPlayback } from "@reelkeep/services/grant-playback";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { serializeCookie } from "../../../../server/cookies.ts";
import { answer, readId, route } from "../../../../server/handle.ts";

export const POST = route<{ id: string }>(async (_request, { id }) => {
  const { grant, cookies } = await grantPlayback(serverContext(), await requireActor(), readId(id));
  return answer(grant, { setCookies: cookies.map(serializeCookie) });
});
