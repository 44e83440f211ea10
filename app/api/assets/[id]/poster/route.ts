import { posterChoiceSchema } from "@reelkeep/core/api/assets";
import { choosePoster } from "@reelkeep/services/choose-poster";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { answer, readBody, readId, route } from "../../../../server/handle.ts";

export const PUT = route<{ id: string }>(async (request, { id }) => {
  const actor = await requireActor();
  await choosePoster(serverContext(), actor, readId(id), await readBody(request, posterChoiceSchema));
  return answer(null);
});
