import { grantPreview } from "@reelkeep/services/grant-preview";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { serializeCookie } from "../../../../server/cookies.ts";
import { answer, readId, route } from "../../../../server/handle.ts";

export const POST = route<{ actionKey: string }>(async (_request, { actionKey }) => {
  const { grant, cookies } = await grantPreview(serverContext(), await requireActor(), readId(actionKey));
  return answer(grant, { setCookies: cookies.map(serializeCookie) });
});
