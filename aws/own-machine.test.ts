import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EC2Client, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createOwnMachine } from "./own-machine.ts";

const ec2 = mockClient(EC2Client);

/** An instance metadata service that speaks version 2 alone. */
const tokenHeader = "x-aws-ec2-metadata-token";
const healthy = { isSilent: false, failuresLeft: 0, instanceId: "i-0123456789abcdef0" };
const metadata = { ...healthy };
let requests: string[] = [];
const service = createServer((request: IncomingMessage, response: ServerResponse) => {
  requests.push(`${request.method} ${request.url}`);
  if (metadata.isSilent) return;
  if (metadata.failuresLeft-- > 0) return response.writeHead(503).end();
  if (request.method === "PUT" && request.url === "/latest/api/token")
    return response.writeHead(request.headers[`${tokenHeader}-ttl-seconds`] ? 200 : 400).end("secret");
  const mayRead = request.headers[tokenHeader] === "secret";
  if (!mayRead) return response.writeHead(401).end();
  return response
    .writeHead(request.url === "/latest/meta-data/instance-id" ? 200 : 404)
    .end(metadata.instanceId);
});

beforeAll(() => new Promise<void>((resolve) => void service.listen(0, "127.0.0.1", resolve)));
beforeEach(() => {
  Object.assign(metadata, healthy);
  requests = [];
  ec2.reset();
  ec2.on(TerminateInstancesCommand).resolves({});
});
afterAll(() => {
  service.closeAllConnections();
  service.close();
});

const own = (config: { metadataEndpoint?: string; metadataTimeoutMs?: number } = {}) =>
  createOwnMachine({
    kind: "ec2",
    region: "us-east-1",
    metadataEndpoint: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    metadataTimeoutMs: 5_000,
    ...config,
  });
const terminated = () =>
  ec2.commandCalls(TerminateInstancesCommand).map(({ args: [{ input }] }) => input.InstanceIds);

describe("a machine of EC2", () => {
  it("J4 learns its id by a token, then ends exactly itself", async () => {
    expect(await own().id()).toBe("i-0123456789abcdef0");
    expect(requests).toEqual(["PUT /latest/api/token", "GET /latest/meta-data/instance-id"]);
    await own().end();
    expect(terminated()).toEqual([["i-0123456789abcdef0"]]);
  });

  it("J4 asks a metadata service that fails for a moment again", async () => {
    metadata.failuresLeft = 2;
    await own().end();
    expect(terminated()).toHaveLength(1);
  });

  it.each([
    ["is silent", { isSilent: true }, { metadataTimeoutMs: 50 }],
    ["keeps failing", { failuresLeft: 99 }, {}],
    ["is something else", { instanceId: "<html>welcome</html>" }, {}],
    ["isn't there", {}, { metadataEndpoint: "http://127.0.0.1:1" }],
  ])("J4 ends nothing and says so where the metadata service %s", async (_, state, config) => {
    Object.assign(metadata, state);
    await expect(own(config).id()).rejects.toMatchObject({ code: "internal" });
    await expect(own(config).end()).rejects.toThrow("No instance metadata service answers here");
    expect(terminated()).toEqual([]);
  });

  it("J4 says so when it may not end itself", async () => {
    ec2.on(TerminateInstancesCommand).rejects(new Error("UnauthorizedOperation"));
    await expect(own().end()).rejects.toThrow("This machine couldn't end itself.");
  });
});

it("J4 a process of a machine that stays has the name it was given, and nothing to end", async () => {
  const machine = createOwnMachine({ kind: "process", machineId: "local-1" });
  expect(await machine.id()).toBe("local-1");
  await machine.end();
  expect(terminated()).toEqual([]);
});
