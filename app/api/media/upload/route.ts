import { uploadRequestSchema } from "@reelkeep/core/api/media";
import { authorizeUpload } from "@reelkeep/services/authorize-upload";
import { requireActor, serverContext } from "../../../server/context.ts";
import { answer, readBody, route } from "../../../server/handle.ts";

export const POST = route(async (request) => {
  const actor = await requireActor();
  return answer(await authorizeUpload(serverContext(), actor, await readBody(request, uploadRequestSchema)));
});
