import { signInSchema } from "@reelkeep/core/api/accounts";
import { signIn, signOut } from "@reelkeep/services/accounts";
import { currentAccount, ownerExists, serverContext } from "../../server/context.ts";
import { answer, readBody, route } from "../../server/handle.ts";

export const GET = route(async () => {
  const account = await currentAccount();
  // Nobody can have an account before the owner.
  return answer({ account, ownerExists: account !== null || (await ownerExists()) });
});

export const POST = route(async (request) => {
  const { account, setCookies } = await signIn(
    serverContext(),
    await readBody(request, signInSchema),
    request,
  );
  return answer({ account }, { setCookies });
});

export const DELETE = route(async (request) =>
  answer(null, { setCookies: await signOut(serverContext().accounts, request.headers) }),
);
