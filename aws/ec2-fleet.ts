import { setTimeout } from "node:timers/promises";
import {
  EC2Client,
  type Filter,
  type Instance,
  type InstanceStateName,
  paginateDescribeInstances,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { AppError } from "@reelkeep/core/errors";
import { type MachineType, machinesFor, usdPerHourOf } from "@reelkeep/core/fleet/machine-types";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { type Candidate, type Ec2MachineConfig, machineRequest, tagKeys } from "./ec2-machine-request.ts";
import { describeEc2Error, isMissingInstance, judgeLaunchError, type LaunchVerdict } from "./ec2-refusals.ts";
import type { LaunchOutcome, LaunchRequest, Machine, WorkerFleet } from "./worker-fleet.ts";

export interface Ec2FleetConfig extends Ec2MachineConfig {
  readonly region: string;
  /** One subnet of each zone, best first. */
  readonly subnets: readonly { readonly zone: string; readonly subnetId: string }[];
  /** An EC2 API other than Amazon's. */
  readonly endpoint?: string | undefined;
  /** Without them the process's own role is used. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** How long EC2 may take to answer, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** The waits before a request without an answer is repeated, in milliseconds. */
  readonly retryDelaysMs?: readonly number[];
}

/** A refusal takes about a second, and a dispatcher's lock on its message lasts a minute. */
const candidatesMax = 12;
/** The most that it may be. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html */
const pageSize = 1000;

/** Not confirmed gone: all states but `terminated`. */
const aliveStates: InstanceStateName[] = ["pending", "running", "stopping", "stopped", "shutting-down"];

type Answer =
  | { readonly kind: "machine"; readonly machine: Machine }
  | (Exclude<LaunchVerdict, { kind: "unknown" }> & { readonly message: string });

/**
 * J6, J7, J9: one EC2 machine for each job.
 *
 * A launch asks for one candidate (a type in a zone) after another, and for the next only after a definite refusal.
 * Each has a client token of its own, `{provisioningToken}-{index}`, of which EC2 makes one machine however often it
 * is asked. https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
 *
 * That doesn't cover a candidate that was refused the first time and has room the second. So a launch first looks
 * for a machine of its provisioning token, which sees every one once `listingLagSeconds` have passed. Repeated sooner,
 * or while EC2 throttles, a launch may at worst be taken for refused, or start a second machine: one of the two
 * workers can't claim the job, and leaves.
 *
 * A machine of this launch that has ended answers `invalid`: none comes of it any more, and that must count, or a
 * machine that dies at every boot would be launched for ever.
 */
export function createEc2Fleet(config: Ec2FleetConfig): WorkerFleet {
  const { ec2, launching } = connect(config);
  const { retryDelaysMs = [500, 2000] } = config;

  async function list(filter: Filter): Promise<Instance[]> {
    const found: Instance[] = [];
    const ofFleet = { Name: `tag:${tagKeys.fleet}`, Values: [config.fleetName] };
    const pages = paginateDescribeInstances({ client: ec2, pageSize }, { Filters: [ofFleet, filter] });
    for await (const { Reservations = [] } of pages)
      found.push(...Reservations.flatMap(({ Instances = [] }) => Instances));
    return found;
  }

  /** What an earlier launch with this token gave; null where it gave nothing that is listed. */
  async function findLaunched(provisioningToken: string): Promise<Answer | null> {
    try {
      const found = await list({ Name: `tag:${tagKeys.provisioningToken}`, Values: [provisioningToken] });
      const answers = found.map(toAnswer);
      return answers.find(({ kind }) => kind === "machine") ?? answers[0] ?? null;
    } catch (error) {
      return toRefusal(error);
    }
  }

  /** Asks for one candidate, again where no answer came: its client token makes that the same request. */
  async function ask(request: RunInstancesCommandInput): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      try {
        const { Instances: [instance] = [] } = await launching.send(new RunInstancesCommand(request));
        if (!instance) throw new Error("RunInstances answered without an instance.");
        return toAnswer(instance);
      } catch (error) {
        const delayMs = retryDelaysMs[attempt];
        if (isDefinite(error, attempt) || delayMs === undefined) return toRefusal(error, attempt);
        await setTimeout(delayMs);
      }
    }
  }

  async function walk(launch: LaunchRequest): Promise<LaunchOutcome> {
    const choice = machinesFor(launch);
    const refusals: string[] = [];
    const exhaustedTypes = new Set<MachineType>();
    let isCapacity = false;
    for (const candidate of candidatesOf(choice.types, config.subnets)) {
      if (exhaustedTypes.has(candidate.type)) continue;
      const answer = await ask(machineRequest(config, launch, candidate, choice));
      if (answer.kind !== "no-capacity" && answer.kind !== "unsupported") return toOutcome(answer);
      refusals.push(`${candidate.type.name} in ${candidate.zone}: ${answer.message}`);
      if (answer.kind === "unsupported") continue;
      isCapacity = true;
      if (answer.next === "type") exhaustedTypes.add(candidate.type);
      if (answer.next === "none") break;
    }
    // Candidates that are all unsupported won't be there later either.
    const reason = isCapacity ? "no-capacity" : "invalid";
    return { outcome: "refused", reason, message: refusals.join("; ") || "There is no subnet to launch in." };
  }

  return {
    // Nothing is promised; the page advises to wait up to about five minutes.
    // https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
    listingLagSeconds: 300,

    async launch(request) {
      const launched = await findLaunched(request.provisioningToken);
      return launched ? toOutcome(launched) : walk(request);
    },

    async alive() {
      const instances = await list({ Name: "instance-state-name", Values: aliveStates }).catch(failed);
      return instances.map(toMachine);
    },

    async terminate(machineId) {
      await ec2.send(new TerminateInstancesCommand({ InstanceIds: [machineId] })).catch((error: unknown) => {
        if (!isMissingInstance(error)) failed(error);
      });
    },
  };
}

/**
 * Two clients. The SDK repeats server errors by itself, and missing capacity and throttling are such; it would also
 * hide that a request refused at last may have gone through at first. So RunInstances is repeated by `ask` alone.
 */
function connect(config: Ec2FleetConfig): { ec2: EC2Client; launching: EC2Client } {
  const connection = {
    region: config.region,
    ...(config.endpoint ? { endpoint: config.endpoint } : {}),
    ...(config.credentials ? { credentials: config.credentials } : {}),
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 3_000,
      requestTimeout: config.requestTimeoutMs ?? 10_000,
      throwOnRequestTimeout: true,
    }),
  };
  return {
    ec2: new EC2Client({ ...connection, maxAttempts: 3 }),
    launching: new EC2Client({ ...connection, maxAttempts: 1 }),
  };
}

const candidatesOf = (types: readonly MachineType[], subnets: Ec2FleetConfig["subnets"]): Candidate[] =>
  types
    .flatMap((type) => subnets.map((subnet) => ({ type, ...subnet })))
    .slice(0, candidatesMax)
    .map((candidate, index) => ({ index, ...candidate }));

/**
 * Whether EC2's answer says that no machine comes. Throttling, permissions and parameters are looked at before the
 * client token, so that after a request without an answer (`attempt` > 0) they say nothing of that one.
 */
function isDefinite(error: unknown, attempt: number): boolean {
  const { kind } = judgeLaunchError(error);
  return kind !== "unknown" && !(attempt > 0 && (kind === "throttled" || kind === "invalid"));
}

/** @throws AppError `launch-failed` where the error isn't definite. */
function toRefusal(error: unknown, attempt = 0): Answer {
  const verdict = judgeLaunchError(error);
  if (verdict.kind === "unknown" || !isDefinite(error, attempt))
    throw new AppError("launch-failed", { retryable: true, cause: error });
  return { ...verdict, message: describeEc2Error(error) };
}

const toAnswer = (instance: Instance): Answer =>
  instance.State?.Name === "terminated" || instance.State?.Name === "shutting-down"
    ? { kind: "ended", message: `${instance.InstanceId} has ended: ${instance.StateReason?.Message ?? ""}` }
    : { kind: "machine", machine: toMachine(instance) };

function toMachine(instance: Instance): Machine {
  const machineType: string = instance.InstanceType ?? "";
  const token = instance.Tags?.find(({ Key }) => Key === tagKeys.provisioningToken)?.Value;
  return {
    machineId: instance.InstanceId!,
    provisioningToken: token ?? null,
    machineType,
    usdPerHour: usdPerHourOf(machineType),
  };
}

function toOutcome(answer: Answer): LaunchOutcome {
  if (answer.kind === "machine") return { outcome: "launched", machine: answer.machine };
  const isPassing = answer.kind === "no-capacity" || answer.kind === "throttled";
  return { outcome: "refused", reason: isPassing ? answer.kind : "invalid", message: answer.message };
}

function failed(cause: unknown): never {
  throw new AppError("internal", { message: "EC2 didn't answer as it should.", cause });
}
