import { invitationRequestSchema } from "@reelkeep/core/api/accounts";
import { inviteCreator } from "@reelkeep/services/invite-people";
import { requireActor, serverContext } from "../../../server/context.ts";
import { answer, readBody, route } from "../../../server/handle.ts";

export const POST = route(async (request) => {
  const actor = await requireActor();
  const body = await readBody(request, invitationRequestSchema);
  return answer(await inviteCreator(serverContext(), actor, body), { status: 201 });
});
