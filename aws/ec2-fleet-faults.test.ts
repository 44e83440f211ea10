import {
  DescribeInstancesCommand,
  type DescribeInstancesCommandInput,
  EC2Client,
  type Instance,
  RunInstancesCommand,
  type RunInstancesCommandInput,
} from "@aws-sdk/client-ec2";
import { mockClient } from "aws-sdk-client-mock";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createEc2Fleet } from "./ec2-fleet.ts";
import { ec2Refusal, testFleetConfig, testLaunch } from "./testing/ec2.ts";

const faults = [
  "InsufficientInstanceCapacity",
  "VcpuLimitExceeded",
  "Unsupported",
  "RequestLimitExceeded",
  "UnauthorizedOperation",
  "InternalError",
  "lost on the way there",
  "lost on the way back",
] as const;
type Fault = (typeof faults)[number];

/**
 * EC2 as its documentation tells it: a client token that gave a machine gives that one again. At its worst: a server
 * error comes after the machine was made.
 */
function fakeEc2(faultsToCome: (Fault | null)[]) {
  const machines = new Map<string, Instance>();
  const refuse = (name: string) => {
    throw ec2Refusal(name, name === "InternalError" ? 500 : 400);
  };
  const run = (input: RunInstancesCommandInput) => {
    const token = input.ClientToken!;
    const fault = faultsToCome.shift() ?? null;
    if (fault === "lost on the way there") throw new Error("socket hang up");
    // These are looked at before the client token.
    if (fault === "RequestLimitExceeded" || fault === "UnauthorizedOperation") refuse(fault);
    const isTooLate = fault === "lost on the way back" || fault === "InternalError";
    if (fault && !isTooLate && !machines.has(token)) refuse(fault);
    const machine: Instance = machines.get(token) ?? {
      InstanceId: `i-${token}`,
      InstanceType: input.InstanceType,
      Tags: input.TagSpecifications![0]!.Tags,
    };
    machines.set(token, machine);
    if (fault === "InternalError") refuse(fault);
    if (fault === "lost on the way back") throw new Error("socket hang up");
    return { Instances: [machine] };
  };
  const describe = ({ Filters = [] }: DescribeInstancesCommandInput) => {
    const fits = ({ Tags = [] }: Instance) =>
      Filters.every(({ Name, Values }) =>
        Tags.some(({ Key, Value }) => Name === `tag:${Key}` && Values?.includes(Value!)),
      );
    return { Reservations: [{ Instances: [...machines.values()].filter(fits) }] };
  };
  return { machines, run, describe };
}

const fleet = createEc2Fleet(testFleetConfig);

it("J6 however EC2 fails, one provisioning token gives one machine, and a refusal means that there is none", async () => {
  const mock = mockClient(EC2Client);
  const fault = fc.option(fc.constantFrom(...faults), { freq: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 20 }), async (faultsToCome) => {
      const ec2 = fakeEc2([...faultsToCome]);
      mock.reset();
      mock.on(RunInstancesCommand).callsFake(ec2.run);
      mock.on(DescribeInstancesCommand).callsFake(ec2.describe);
      const launch = () => fleet.launch(testLaunch).catch(() => null);

      // An unknown launch is repeated, as its caller may.
      let outcome = await launch();
      while (!outcome) outcome = await launch();

      const ids = [...ec2.machines.values()].map(({ InstanceId }) => InstanceId);
      expect(ids).toEqual(outcome.outcome === "launched" ? [outcome.machine.machineId] : []);
    }),
    { numRuns: 300 },
  );
});
