import { signRequestSchema } from "@reelkeep/core/api/media";
import { signUploadRequest } from "@reelkeep/services/sign-upload-request";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { answer, readBody, readId, route } from "../../../../server/handle.ts";

export const POST = route<{ actionKey: string }>(async (request, { actionKey }) => {
  const actor = await requireActor();
  const body = await readBody(request, signRequestSchema);
  return answer(await signUploadRequest(serverContext(), actor, readId(actionKey), body));
});
