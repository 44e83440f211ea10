import type { RunInstancesCommandInput, Tag } from "@aws-sdk/client-ec2";
import type { MachineChoice, MachineType } from "@reelkeep/core/fleet/machine-types";
import { userDataFor } from "./user-data.ts";
import type { LaunchRequest } from "./worker-fleet.ts";

/** What all machines of one fleet have in common. */
export interface Ec2MachineConfig {
  /** Written on every machine and asked for in every list, so that installations in one account don't meet. */
  readonly fleetName: string;
  /**
   * Gives image, role and security groups; these not within a network interface, because the subnet is named at
   * launch. The version is a number, not `$Latest`: a request is only repeated when all of it is the same.
   */
  readonly launchTemplate: { readonly id: string; readonly version: string };
  /** The name by which the boot script finds the empty scratch disk, e.g. `/dev/sdf`. */
  readonly scratchDevice: string;
  /** What a machine does at its first boot, and for as long as it lives: see `userDataFor`. */
  readonly bootScript: string;
  /** What every worker is told beside its job; no secrets. */
  readonly workerEnv: Readonly<Record<string, string>>;
}

/** One type in one zone that a launch may ask for. */
export interface Candidate {
  /** Its place in the launch's order. */
  readonly index: number;
  readonly type: MachineType;
  readonly zone: string;
  readonly subnetId: string;
}

/** Their characters are those that a machine's own metadata service can hand on; a slash isn't among them. */
export const tagKeys = {
  fleet: "reelkeep:fleet",
  actionKey: "reelkeep:action-key",
  generation: "reelkeep:generation",
  provisioningToken: "reelkeep:provisioning-token",
} as const;

/**
 * The RunInstances request for one candidate: the same for the same arguments, so that repeating it is safe. A client
 * token may have 64 characters; a UUID, a dash and two digits are 39.
 */
export function machineRequest(
  config: Ec2MachineConfig,
  launch: LaunchRequest,
  candidate: Candidate,
  { diskGib, lifetimeMinutes }: MachineChoice,
): RunInstancesCommandInput {
  const tags: Tag[] = [
    { Key: "Name", Value: `${config.fleetName} worker` },
    { Key: tagKeys.fleet, Value: config.fleetName },
    { Key: tagKeys.actionKey, Value: launch.actionKey },
    { Key: tagKeys.generation, Value: String(launch.generation) },
    { Key: tagKeys.provisioningToken, Value: launch.provisioningToken },
  ];
  const userData = userDataFor({
    bootScript: config.bootScript,
    env: { ...config.workerEnv, ACTION_KEY: launch.actionKey, GENERATION: String(launch.generation) },
    lifetimeMinutes,
  });
  return {
    ClientToken: `${launch.provisioningToken}-${candidate.index}`,
    LaunchTemplate: { LaunchTemplateId: config.launchTemplate.id, Version: config.launchTemplate.version },
    InstanceType: candidate.type.name as RunInstancesCommandInput["InstanceType"],
    SubnetId: candidate.subnetId,
    MinCount: 1,
    MaxCount: 1,
    // J4: however the machine shuts down, it is gone and costs nothing more.
    InstanceInitiatedShutdownBehavior: "terminate",
    // Two hops, because the worker is in a container. FFmpeg has no network (M1), and so none of them.
    MetadataOptions: {
      HttpEndpoint: "enabled",
      HttpTokens: "required",
      HttpPutResponseHopLimit: 2,
      InstanceMetadataTags: "enabled",
    },
    BlockDeviceMappings: [
      {
        DeviceName: config.scratchDevice,
        Ebs: { VolumeType: "gp3", VolumeSize: diskGib, Encrypted: true, DeleteOnTermination: true },
      },
    ],
    TagSpecifications: [
      { ResourceType: "instance", Tags: tags },
      { ResourceType: "volume", Tags: tags },
    ],
    UserData: Buffer.from(userData).toString("base64"),
  };
}
