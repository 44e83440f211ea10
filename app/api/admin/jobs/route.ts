import { jobListQuerySchema } from "@reelkeep/core/api/jobs";
import { listJobs } from "@reelkeep/services/list-jobs";
import { requireActor, serverContext } from "../../../server/context.ts";
import { answer, route } from "../../../server/handle.ts";

export const GET = route(async (request) => {
  const actor = await requireActor();
  const query = jobListQuerySchema.parse(Object.fromEntries(request.nextUrl.searchParams));
  return answer(await listJobs(serverContext(), actor, query));
});
