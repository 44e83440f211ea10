import { assetStateChangeSchema } from "@reelkeep/core/api/jobs";
import { setAssetState } from "@reelkeep/services/set-asset-state";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { answer, readBody, readId, route } from "../../../../server/handle.ts";

export const PUT = route<{ id: string }>(async (request, { id }) => {
  const actor = await requireActor();
  const { state } = await readBody(request, assetStateChangeSchema);
  await setAssetState(serverContext(), actor, readId(id), state === "blocked" ? "block" : "unblock");
  return answer(null);
});
