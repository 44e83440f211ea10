/** Serves the site: a child process of the local stack, with Next's public custom-server API. */
import { createServer } from "node:http";
import next from "next";
import { liveWithParent } from "./child-life.ts";
import { admitRequest } from "./incoming.ts";
import { repositoryRoot } from "./repository.ts";

const port = Number(process.env.REELKEEP_PORT);
const dev = process.env.NODE_ENV === "development";

const app = next({ dev, dir: repositoryRoot, hostname: "localhost", port });
await app.prepare();
const handle = app.getRequestHandler();
const server = createServer((request, response) => {
  if (admitRequest(request, response)) void handle(request, response);
});
// The page of a developer listens for changes over a web socket.
server.on("upgrade", app.getUpgradeHandler());
await new Promise<void>((resolve, reject) => {
  server.once("error", reject);
  server.listen(port, "127.0.0.1", resolve);
});

liveWithParent(async () => {
  server.close();
  server.closeAllConnections();
  await app.close();
});
