import {
  DescribeInstancesCommand,
  EC2Client,
  type Instance,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, it } from "vitest";
import { createEc2Fleet } from "./ec2-fleet.ts";
import { ec2Refusal as refusal, testLaunch as request, testFleetConfig } from "./testing/ec2.ts";

const ec2 = mockClient(EC2Client);
beforeEach(() => {
  ec2.reset();
  ec2.on(DescribeInstancesCommand).resolves({ Reservations: [] });
});

const fleet = createEc2Fleet(testFleetConfig);

const noCapacity = refusal("InsufficientInstanceCapacity", 500);
const cutConnection = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

const machine = (fields: Partial<Instance> = {}): Instance => ({
  InstanceId: "i-0aa",
  InstanceType: "c7i.2xlarge",
  State: { Name: "pending" },
  Tags: [{ Key: "reelkeep:provisioning-token", Value: request.provisioningToken }],
  ...fields,
});
const given = (fields: Partial<Instance> = {}) => ({ Instances: [machine(fields)] });
const launched = {
  outcome: "launched",
  machine: {
    machineId: "i-0aa",
    provisioningToken: request.provisioningToken,
    machineType: "c7i.2xlarge",
    usdPerHour: 0.357,
  },
};

const asked = (): RunInstancesCommandInput[] =>
  ec2.commandCalls(RunInstancesCommand).map(({ args: [{ input }] }) => input);
/** What was asked for, e.g. `0 c7i.2xlarge subnet-a`: candidate, type and subnet. */
const askedFor = () =>
  asked().map(
    ({ ClientToken, InstanceType, SubnetId }) =>
      `${ClientToken?.replace(`${request.provisioningToken}-`, "")} ${InstanceType} ${SubnetId}`,
  );

describe("what is asked of EC2", () => {
  it("J9 a launch asks for one machine that is sized, tagged, private and gone when it shuts down", async () => {
    ec2.on(RunInstancesCommand).resolves(given());
    expect(await fleet.launch(request)).toEqual(launched);
    const Tags = [
      { Key: "Name", Value: "reelkeep-test worker" },
      { Key: "reelkeep:fleet", Value: "reelkeep-test" },
      { Key: "reelkeep:action-key", Value: request.actionKey },
      { Key: "reelkeep:generation", Value: "2" },
      { Key: "reelkeep:provisioning-token", Value: request.provisioningToken },
    ];
    const [input, ...more] = asked();
    expect(more).toEqual([]);
    const { UserData, ...rest } = input!;
    expect(rest).toEqual({
      ClientToken: `${request.provisioningToken}-0`,
      LaunchTemplate: { LaunchTemplateId: "lt-0abc", Version: "7" },
      InstanceType: "c7i.2xlarge",
      SubnetId: "subnet-a",
      MinCount: 1,
      MaxCount: 1,
      InstanceInitiatedShutdownBehavior: "terminate",
      MetadataOptions: {
        HttpEndpoint: "enabled",
        HttpTokens: "required",
        HttpPutResponseHopLimit: 2,
        InstanceMetadataTags: "enabled",
      },
      BlockDeviceMappings: [
        {
          DeviceName: "/dev/sdf",
          Ebs: { VolumeType: "gp3", VolumeSize: 40, Encrypted: true, DeleteOnTermination: true },
        },
      ],
      TagSpecifications: [
        { ResourceType: "instance", Tags },
        { ResourceType: "volume", Tags },
      ],
    });
    const userData = Buffer.from(UserData!, "base64").toString();
    expect(userData).toContain(`S3_BUCKET=media\nACTION_KEY=${request.actionKey}\nGENERATION=2\n`);
    expect(userData).toMatch(/\necho boot\n$/);
  });

  it("J6 a client token fits into EC2's 64 characters, also the last candidate's", async () => {
    ec2.on(RunInstancesCommand).rejects(noCapacity);
    await fleet.launch(request);
    for (const { ClientToken } of asked()) expect(ClientToken).toMatch(/^[\x21-\x7e]{1,64}$/);
  });
});

describe("one candidate after another", () => {
  it("J6 the next zone and then the next type are asked for after a definite refusal", async () => {
    ec2
      .on(RunInstancesCommand)
      .rejectsOnce(noCapacity)
      .rejectsOnce(refusal("Unsupported"))
      .rejectsOnce(refusal("InsufficientFreeAddressesInSubnet"))
      .resolves(given({ InstanceType: "c7a.2xlarge" }));
    expect(await fleet.launch(request)).toMatchObject({
      outcome: "launched",
      machine: { machineType: "c7a.2xlarge", usdPerHour: 0.41056 },
    });
    expect(askedFor()).toEqual([
      "0 c7i.2xlarge subnet-a",
      "1 c7i.2xlarge subnet-b",
      "2 c7a.2xlarge subnet-a",
      "3 c7a.2xlarge subnet-b",
    ]);
  });

  it.each(["VcpuLimitExceeded", "InstanceLimitExceeded"])(
    "J6 %s holds in every zone, so the next type is asked for; the candidates keep their tokens",
    async (code) => {
      ec2.on(RunInstancesCommand).rejectsOnce(refusal(code)).resolves(given());
      await fleet.launch(request);
      expect(askedFor()).toEqual(["0 c7i.2xlarge subnet-a", "2 c7a.2xlarge subnet-a"]);
    },
  );

  it("J7 candidates without capacity, all of them, answer no-capacity and name each", async () => {
    ec2.on(RunInstancesCommand).rejects(noCapacity);
    const outcome = await fleet.launch(request);
    expect(outcome).toMatchObject({ outcome: "refused", reason: "no-capacity" });
    expect(outcome).toHaveProperty(
      "message",
      expect.stringContaining("c6i.2xlarge in eu-central-1b: InsufficientInstanceCapacity"),
    );
    expect(askedFor()).toHaveLength(12);
  });

  it("J7 a limit on all disks ends the walk as no-capacity", async () => {
    ec2.on(RunInstancesCommand).rejects(refusal("VolumeLimitExceeded"));
    expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason: "no-capacity" });
    expect(askedFor()).toHaveLength(1);
  });

  it("J7 candidates that no zone has are no shortage that passes: invalid", async () => {
    ec2.on(RunInstancesCommand).rejects(refusal("Unsupported"));
    expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason: "invalid" });
  });

  it("J7 throttling ends the walk at once and is told apart from missing capacity", async () => {
    ec2.on(RunInstancesCommand).rejectsOnce(noCapacity).rejects(refusal("RequestLimitExceeded", 503));
    expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason: "throttled" });
    expect(askedFor()).toHaveLength(2);
  });

  it.each(["InvalidParameterValue", "UnauthorizedOperation", "InvalidAMIID.NotFound", "SomethingNew"])(
    "J7 %s is our own fault: no other candidate is asked for",
    async (code) => {
      ec2.on(RunInstancesCommand).rejects(refusal(code));
      expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason: "invalid" });
      expect(askedFor()).toHaveLength(1);
    },
  );
});

describe("an answer that doesn't come", () => {
  it.each([
    ["a cut connection", cutConnection],
    ["a server error", refusal("InternalError", 500)],
    ["an overloaded server", refusal("Unavailable", 503)],
    ["an unknown server error", refusal("SomethingNew", 502)],
    ["a client token known with other parameters", refusal("IdempotentParameterMismatch")],
  ])("J6 after %s no other candidate is asked for, and launch throws", async (_, error) => {
    ec2.on(RunInstancesCommand).rejects(error);
    await expect(fleet.launch(request)).rejects.toMatchObject({ code: "launch-failed", retryable: true });
    expect(new Set(askedFor())).toEqual(new Set(["0 c7i.2xlarge subnet-a"]));
  });

  it("J6 the same request, asked again, finds the machine that the lost answer told of", async () => {
    ec2.on(RunInstancesCommand).rejectsOnce(cutConnection).resolves(given());
    expect(await fleet.launch(request)).toEqual(launched);
    expect(asked()[1]).toEqual(asked()[0]);
  });

  it.each(["RequestLimitExceeded", "UnauthorizedOperation"])(
    "J6 %s after a lost answer isn't definite: the first request may have gone through",
    async (code) => {
      ec2.on(RunInstancesCommand).rejectsOnce(cutConnection).rejects(refusal(code));
      await expect(fleet.launch(request)).rejects.toMatchObject({ code: "launch-failed" });
    },
  );

  it("J6 missing capacity after a lost answer is definite, because EC2 looks at the client token first", async () => {
    ec2.on(RunInstancesCommand).rejectsOnce(cutConnection).rejectsOnce(noCapacity).resolves(given());
    expect(await fleet.launch(request)).toEqual(launched);
    expect(askedFor()[2]).toBe("1 c7i.2xlarge subnet-b");
  });
});

describe("launching again with one provisioning token", () => {
  it("J6 makes the same requests in the same order", async () => {
    ec2.on(RunInstancesCommand).rejects(noCapacity);
    await fleet.launch(request);
    const first = asked();
    ec2.resetHistory();
    await fleet.launch(request);
    expect(asked()).toEqual(first);
  });

  it("J6 finds the machine that is there already, although a better candidate has room by now", async () => {
    ec2.on(DescribeInstancesCommand).resolves({
      Reservations: [given({ InstanceId: "i-0dead", State: { Name: "terminated" } }), given()],
    });
    expect(await fleet.launch(request)).toEqual(launched);
    expect(asked()).toEqual([]);
    expect(ec2.commandCalls(DescribeInstancesCommand)[0]!.args[0].input).toMatchObject({
      Filters: [
        { Name: "tag:reelkeep:fleet", Values: ["reelkeep-test"] },
        { Name: "tag:reelkeep:provisioning-token", Values: [request.provisioningToken] },
      ],
    });
  });

  it.each(["terminated", "shutting-down"] as const)(
    "J6 a machine of it that is %s gives no worker any more: invalid, and no other candidate",
    async (state) => {
      ec2.on(DescribeInstancesCommand).resolves({ Reservations: [given({ State: { Name: state } })] });
      expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason: "invalid" });
      expect(asked()).toEqual([]);

      ec2.on(DescribeInstancesCommand).resolves({});
      ec2.on(RunInstancesCommand).resolves(given({ State: { Name: state } }));
      expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason: "invalid" });
      expect(askedFor()).toHaveLength(1);
    },
  );

  it("J6 a client token whose machine has ended is no reason to ask for another candidate", async () => {
    ec2.on(RunInstancesCommand).rejects(refusal("IdempotentInstanceTerminated"));
    expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason: "invalid" });
    expect(askedFor()).toHaveLength(1);
  });

  it.each([
    ["throttled", refusal("RequestLimitExceeded", 503)],
    ["invalid", refusal("UnauthorizedOperation")],
  ])("J7 a look for it that is refused as %s starts nothing", async (reason, error) => {
    ec2.on(DescribeInstancesCommand).rejects(error);
    expect(await fleet.launch(request)).toMatchObject({ outcome: "refused", reason });
    expect(asked()).toEqual([]);
  });

  it("J6 a look for it without an answer throws and starts nothing", async () => {
    ec2.on(DescribeInstancesCommand).rejects(cutConnection);
    await expect(fleet.launch(request)).rejects.toMatchObject({ code: "launch-failed" });
    expect(asked()).toEqual([]);
  });
});

describe("the machines of a fleet", () => {
  it("J8 alive lists all pages of this fleet's machines that aren't confirmed gone, with type, price and launch", async () => {
    ec2
      .on(DescribeInstancesCommand)
      .resolvesOnce({ Reservations: [given(), given({ InstanceId: "i-0bb" })], NextToken: "more" })
      .resolvesOnce({
        Reservations: [{ Instances: [machine({ InstanceId: "i-0cc", InstanceType: "m5.large", Tags: [] })] }],
      });
    expect(await fleet.alive()).toMatchObject([
      launched.machine,
      { machineId: "i-0bb" },
      { machineId: "i-0cc", provisioningToken: null, machineType: "m5.large", usdPerHour: 2.448 },
    ]);
    expect(ec2.commandCalls(DescribeInstancesCommand).map(({ args: [{ input }] }) => input)).toMatchObject([
      {
        MaxResults: 1000,
        Filters: [
          { Name: "tag:reelkeep:fleet", Values: ["reelkeep-test"] },
          {
            Name: "instance-state-name",
            Values: ["pending", "running", "stopping", "stopped", "shutting-down"],
          },
        ],
      },
      { NextToken: "more" },
    ]);
  });

  it("J8 a list that can't be read isn't an empty one", async () => {
    ec2.on(DescribeInstancesCommand).rejects(refusal("RequestLimitExceeded", 503));
    await expect(fleet.alive()).rejects.toMatchObject({ code: "internal" });
  });

  it("J6 a machine is terminated by its id", async () => {
    ec2.on(TerminateInstancesCommand).resolves({});
    await fleet.terminate("i-0aa");
    expect(ec2.commandCalls(TerminateInstancesCommand)[0]!.args[0].input).toEqual({ InstanceIds: ["i-0aa"] });
  });

  it.each(["InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"])(
    "J6 terminating one that EC2 doesn't know (%s) does nothing",
    async (code) => {
      ec2.on(TerminateInstancesCommand).rejects(refusal(code));
      await expect(fleet.terminate("i-0aa")).resolves.toBeUndefined();
    },
  );

  it("J6 a machine that can't be terminated is told, not forgotten", async () => {
    ec2.on(TerminateInstancesCommand).rejects(refusal("UnauthorizedOperation"));
    await expect(fleet.terminate("i-0aa")).rejects.toMatchObject({ code: "internal" });
  });
});
