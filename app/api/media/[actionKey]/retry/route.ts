import { retryRequestSchema } from "@reelkeep/core/api/jobs";
import { retryJob } from "@reelkeep/services/retry-job";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { answer, readBody, readId, route } from "../../../../server/handle.ts";

export const POST = route<{ actionKey: string }>(async (request, { actionKey }) => {
  const actor = await requireActor();
  const { generation } = await readBody(request, retryRequestSchema);
  await retryJob(serverContext(), actor, { actionKey: readId(actionKey), generation });
  return answer(null);
});
