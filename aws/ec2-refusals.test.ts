import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createEc2Fleet } from "./ec2-fleet.ts";
import { describeEc2Error, judgeLaunchError } from "./ec2-refusals.ts";
import { ec2Refusal as refusal, testFleetConfig, testLaunch } from "./testing/ec2.ts";
import type { LaunchOutcome } from "./worker-fleet.ts";

describe("what an error means", () => {
  it.each([
    ["InsufficientInstanceCapacity", 500, "no-capacity"],
    ["InsufficientHostCapacity", 500, "no-capacity"],
    ["VcpuLimitExceeded", 400, "no-capacity"],
    ["Unsupported", 400, "unsupported"],
    ["RequestLimitExceeded", 503, "throttled"],
    ["Throttling", 400, "throttled"],
    ["IdempotentInstanceTerminated", 400, "ended"],
    ["IdempotentParameterMismatch", 400, "unknown"],
    ["InvalidParameterCombination", 400, "invalid"],
    ["UnauthorizedOperation", 403, "invalid"],
    ["InternalError", 500, "unknown"],
    ["Unavailable", 503, "unknown"],
    ["SomethingNew", 500, "unknown"],
    ["SomethingNew", 400, "invalid"],
    ["SomethingNew", 302, "unknown"],
  ])("J6 %s with status %i is %s", (code, status, kind) => {
    expect(judgeLaunchError(refusal(code, status)).kind).toBe(kind);
  });

  it.each([new Error("socket hang up"), new TypeError("fetch failed"), "text", undefined])(
    "J6 whatever isn't EC2's answer is unknown: %s",
    (error) => expect(judgeLaunchError(error)).toEqual({ kind: "unknown" }),
  );

  it("J7 an error is told by its code, in at most 300 characters", () => {
    const told = describeEc2Error(refusal("UnauthorizedOperation", 403, "x".repeat(4000)));
    expect(told).toMatch(/^UnauthorizedOperation: x+$/);
    expect(told).toHaveLength(300);
  });
});

/** EC2's own words over HTTP, read by the real SDK. */
describe("an EC2 that fails", () => {
  /** How RunInstances is answered, one after another. */
  let answers: ((response: ServerResponse) => void)[] = [];
  let tokens: (string | null)[] = [];

  const server = createServer(async (incoming, response) => {
    const form = new URLSearchParams(await text(incoming));
    if (form.get("Action") !== "RunInstances") return sendXml(response, 200, "<DescribeInstancesResponse/>");
    tokens.push(form.get("ClientToken"));
    const answer = answers.shift();
    if (answer) answer(response);
    else sendXml(response, 200, launchedXml);
  });

  const launchedXml = `<RunInstancesResponse><instancesSet><item>
    <instanceId>i-0aa</instanceId><instanceType>c7i.xlarge</instanceType>
    <instanceState><code>0</code><name>pending</name></instanceState>
  </item></instancesSet></RunInstancesResponse>`;
  const sendXml = (response: ServerResponse, status: number, body: string) => {
    response.writeHead(status, { "content-type": "text/xml" }).end(body);
  };
  const refuse = (status: number, code: string) => (response: ServerResponse) =>
    sendXml(
      response,
      status,
      `<Response><Errors><Error><Code>${code}</Code><Message>m</Message></Error></Errors></Response>`,
    );
  const cut = (response: ServerResponse) => void response.socket?.destroy();
  const silence = () => {};
  const proxyPage = (response: ServerResponse) =>
    void response.writeHead(502).end("<html>Bad Gateway</html>");

  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
  beforeEach(() => {
    answers = [];
    tokens = [];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const launch = (requestTimeoutMs = 1_000): Promise<LaunchOutcome> =>
    createEc2Fleet({
      ...testFleetConfig,
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      requestTimeoutMs,
    }).launch({ ...testLaunch, provisioningToken: "t" });

  it.each([
    ["a cut connection", cut],
    ["no answer in time", silence],
    ["a proxy's page", proxyPage],
    ["InternalError", refuse(500, "InternalError")],
    ["Unavailable", refuse(503, "Unavailable")],
  ])("J6 after %s the same candidate is asked again", async (_, answer) => {
    answers = [answer];
    expect(await launch()).toMatchObject({ outcome: "launched", machine: { machineId: "i-0aa" } });
    expect(tokens).toEqual(["t-0", "t-0"]);
  });

  it("J6 a server that stays silent leaves the launch unknown after three requests for one candidate", async () => {
    answers = [silence, silence, silence];
    await expect(launch(50)).rejects.toMatchObject({ code: "launch-failed" });
    expect(tokens).toEqual(["t-0", "t-0", "t-0"]);
  });

  it("J6 missing capacity is asked for once, although it is a server error to the SDK", async () => {
    answers = [refuse(500, "InsufficientInstanceCapacity")];
    expect(await launch()).toMatchObject({ outcome: "launched" });
    expect(tokens).toEqual(["t-0", "t-1"]);
  });

  it("J7 throttling is asked for once, although the SDK would ask again", async () => {
    answers = [refuse(503, "RequestLimitExceeded")];
    expect(await launch()).toEqual({
      outcome: "refused",
      reason: "throttled",
      message: "RequestLimitExceeded: m",
    });
    expect(tokens).toEqual(["t-0"]);
  });

  it("J7 throttling after a lost answer leaves the launch unknown", async () => {
    answers = [cut, refuse(503, "RequestLimitExceeded"), refuse(503, "RequestLimitExceeded")];
    await expect(launch()).rejects.toMatchObject({ code: "launch-failed" });
  });
});
