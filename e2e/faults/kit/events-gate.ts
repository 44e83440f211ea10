import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

/** The way of storage's events to the control plane. */
export interface EventsGate {
  /** From now on events are taken and told to nobody: storage won't tell again. */
  lose(): void;
  /** From now on events are answered with 503, so that storage tells again later. */
  refuse(): void;
  /** From now on each event is told so many times at once. */
  repeat(times: number): void;
  /** Events taken since the way was changed last. */
  count(): number;
  heal(): void;
  close(): Promise<void>;
}

/** Takes events at `port` and passes them on to the endpoint at `targetPort`. */
export async function startEventsGate(port: number, targetPort: number): Promise<EventsGate> {
  let tellings: number | "refuse" = 1;
  let taken = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    taken++;
    if (tellings === "refuse") return void response.writeHead(503).end();
    const answers = Array.from({ length: tellings }, () =>
      fetch(`http://127.0.0.1:${targetPort}${request.url}`, { method: "POST", body }).then(
        ({ status }) => status,
        () => 503,
      ),
    );
    response.writeHead((await Promise.all(answers)).find((status) => status !== 204) ?? 204).end();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const set = (next: typeof tellings) => {
    tellings = next;
    taken = 0;
  };
  return {
    lose: () => set(0),
    refuse: () => set("refuse"),
    repeat: set,
    count: () => taken,
    heal: () => set(1),
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
