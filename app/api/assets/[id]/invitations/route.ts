import { invitationRequestSchema } from "@reelkeep/core/api/accounts";
import { inviteViewer, listViewers } from "@reelkeep/services/invite-people";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { answer, readBody, readId, route } from "../../../../server/handle.ts";

export const GET = route<{ id: string }>(async (_request, { id }) =>
  answer({ invitations: await listViewers(serverContext(), await requireActor(), readId(id)) }),
);

export const POST = route<{ id: string }>(async (request, { id }) => {
  const actor = await requireActor();
  const body = await readBody(request, invitationRequestSchema);
  return answer(await inviteViewer(serverContext(), actor, readId(id), body), { status: 201 });
});
