import { welcomeSchema } from "@reelkeep/core/api/accounts";
import { createOwner } from "@reelkeep/services/accounts";
import { serverContext } from "../../server/context.ts";
import { answer, readBody, route } from "../../server/handle.ts";

export const POST = route(async (request) => {
  const { account, setCookies } = await createOwner(
    serverContext(),
    await readBody(request, welcomeSchema),
    request,
  );
  return answer({ account }, { setCookies });
});
