import { assetChangeSchema } from "@reelkeep/core/api/assets";
import { changeAsset, getAsset } from "@reelkeep/services/list-library";
import { setAssetState } from "@reelkeep/services/set-asset-state";
import { requireActor, serverContext } from "../../../server/context.ts";
import { answer, readBody, readId, route } from "../../../server/handle.ts";

export const GET = route<{ id: string }>(async (_request, { id }) =>
  answer(await getAsset(serverContext(), await requireActor(), readId(id))),
);

export const PATCH = route<{ id: string }>(async (request, { id }) => {
  const actor = await requireActor();
  const change = await readBody(request, assetChangeSchema);
  return answer(await changeAsset(serverContext(), actor, readId(id), change));
});

export const DELETE = route<{ id: string }>(async (_request, { id }) => {
  await setAssetState(serverContext(), await requireActor(), readId(id), "delete");
  return answer(null);
});
