import { cancelJob } from "@reelkeep/services/cancel-job";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { answer, readId, route } from "../../../../server/handle.ts";

export const POST = route<{ actionKey: string }>(async (_request, { actionKey }) => {
  await cancelJob(serverContext(), await requireActor(), readId(actionKey));
  return answer(null);
});
