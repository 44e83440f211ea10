import { ownerExists, serverContext } from "../../server/context.ts";
import { answer, route } from "../../server/handle.ts";

/** Whether this server reaches its database. */
export const GET = route(async () => {
  serverContext();
  await ownerExists();
  return answer({ ok: true });
});
