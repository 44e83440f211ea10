import { revokeInvitation } from "@reelkeep/services/invite-people";
import { requireActor, serverContext } from "../../../server/context.ts";
import { answer, readId, route } from "../../../server/handle.ts";

export const DELETE = route<{ id: string }>(async (_request, { id }) => {
  await revokeInvitation(serverContext(), await requireActor(), readId(id));
  return answer(null);
});
