import { acceptInvitationSchema } from "@reelkeep/core/api/accounts";
import { createAccount, type SignedIn, signIn } from "@reelkeep/services/accounts";
import { acceptInvitation } from "@reelkeep/services/invite-people";
import { currentAccount, serverContext } from "../../../server/context.ts";
import { answer, readBody, route } from "../../../server/handle.ts";

export const POST = route(async (request) => {
  const context = serverContext();
  let signedIn: SignedIn | undefined;
  const accepted = await acceptInvitation(
    context,
    await readBody(request, acceptInvitationSchema),
    await currentAccount(),
    async (person) => {
      await createAccount(context.accounts, person);
      signedIn = await signIn(context, person, request);
      return signedIn.account;
    },
  );
  return answer(accepted, { setCookies: signedIn?.setCookies ?? [] });
});
