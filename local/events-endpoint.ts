import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { z } from "zod";

/** What we use of the event that S3 sends through EventBridge.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html */
const eventSchema = z.object({
  "detail-type": z.string(),
  detail: z.object({ object: z.object({ key: z.string() }) }),
});

export interface EventsEndpoint {
  close(): Promise<void>;
}

/**
 * Where the local storage tells of new objects: `POST /events/{token}`, in EventBridge's form. Any answer but 204 makes
 * storage tell again later, so a failure of ours loses no event.
 */
export async function startEventsEndpoint(options: {
  port: number;
  token: string;
  onObjectCreated: (key: string) => Promise<void>;
  onError: (error: unknown) => void;
}): Promise<EventsEndpoint> {
  const server = createServer(async (request, response) => {
    const answer = (status: number) => response.writeHead(status).end();
    if (request.method !== "POST" || request.url !== `/events/${options.token}`) return answer(404);
    try {
      const event = eventSchema.parse(await json(request));
      if (event["detail-type"] === "Object Created") await options.onObjectCreated(event.detail.object.key);
      answer(204);
    } catch (error) {
      options.onError(error);
      answer(error instanceof z.ZodError ? 400 : 503);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}
