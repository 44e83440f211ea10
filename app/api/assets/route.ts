import { assetListQuerySchema } from "@reelkeep/core/api/assets";
import { listAssets } from "@reelkeep/services/list-library";
import { requireActor, serverContext } from "../../server/context.ts";
import { answer, route } from "../../server/handle.ts";

export const GET = route(async (request) => {
  const actor = await requireActor();
  const query = assetListQuerySchema.parse(Object.fromEntries(request.nextUrl.searchParams));
  return answer(await listAssets(serverContext(), actor, query));
});
