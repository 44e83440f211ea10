import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a database that a test can lose: its connections stay open and nothing gets through any more. */
export interface TcpProxy {
  /** The database's URL, by this way. */
  readonly url: string;
  /** How many connections were asked for so far. */
  connectionCount(): number;
  /** From now on nothing passes, in open connections and new ones. */
  swallow(): void;
  /** Passes again what comes on new connections. */
  restore(): void;
  close(): void;
}

export async function startTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let swallows = false;
  let connectionCount = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((near) => {
    keep(near);
    connectionCount++;
    if (swallows) return void near.resume();
    const far = keep(connect(Number(target.port), target.hostname));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (data) => swallows || to.write(data));
      from.on("close", () => swallows || to.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    connectionCount: () => connectionCount,
    swallow: () => {
      swallows = true;
    },
    restore: () => {
      swallows = false;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
