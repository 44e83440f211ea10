import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { bodyBytesMax } from "@reelkeep/core/api/limits";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admitRequest } from "./incoming.ts";

let server: Server;
beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    if (!admitRequest(incoming, response)) return;
    const body = await text(incoming);
    response.end(`${incoming.headers["x-forwarded-for"]} ${body.length}`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends `body` and, where `whole` is false, never ends the request. */
async function post(headers: Record<string, string>, body: string, whole = true) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: "127.0.0.1", port, method: "POST", headers, agent: false });
  sent.on("error", () => {});
  sent.write(body);
  if (whole) sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const result = { status: answer.statusCode, body: await text(answer) };
  sent.destroy();
  return result;
}

describe("what comes before Next", () => {
  it("X4 a client's address is the peer's, whatever the client says", async () => {
    const headers = { "content-length": "2", "x-forwarded-for": "203.0.113.9" };
    expect(await post(headers, "ab")).toEqual({ status: 200, body: "127.0.0.1 2" });
  });

  it("X4 a body up to the limit comes through", async () => {
    const body = "a".repeat(bodyBytesMax);
    const answer = await post({ "content-length": String(bodyBytesMax) }, body);
    expect(answer).toEqual({ status: 200, body: `127.0.0.1 ${bodyBytesMax}` });
  });

  it.each([
    ["announces too much", { "content-length": "300000000" }, "too long"],
    ["doesn't say how long it is", { "transfer-encoding": "chunked" }, "how long"],
  ])("X4 a body that %s is refused without waiting for it", async (_, headers, words) => {
    const answer = await post(headers, "the beginning", false);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error).toMatchObject({
      code: "invalid-request",
      message: expect.stringContaining(words),
    });
  });
});
