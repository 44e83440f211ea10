import { listPeople } from "@reelkeep/services/accounts";
import { requireActor, serverContext } from "../../server/context.ts";
import { answer, route } from "../../server/handle.ts";

export const GET = route(async () => answer(await listPeople(serverContext(), await requireActor())));
