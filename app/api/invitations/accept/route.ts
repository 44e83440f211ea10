import { acceptInvitationSchema } from "@reelkeep/core/api/accounts";
import { createAccount, openSession } from "@reelkeep/services/accounts";
import { acceptInvitation } from "@reelkeep/services/invite-people";
import { currentAccount, serverContext } from "../../../server/context.ts";
import { answer, readBody, route } from "../../../server/handle.ts";

export const POST = route(async (request) => {
  const context = serverContext();
  const body = await readBody(request, acceptInvitationSchema);
  let setCookies: string[] = [];
  const accepted = await acceptInvitation(context, body, await currentAccount(), async (person, claim) => {
    const account = await createAccount(context, person, claim);
    setCookies = await openSession(context.accounts, person, request);
    return account;
  });
  return answer(accepted, { setCookies });
});
