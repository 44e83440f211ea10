import { completeUpload } from "@reelkeep/services/admit-upload";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { answer, readId, route } from "../../../../server/handle.ts";

export const POST = route<{ actionKey: string }>(async (_request, { actionKey }) =>
  answer(await completeUpload(serverContext(), await requireActor(), readId(actionKey))),
);
