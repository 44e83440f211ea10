import { EC2ServiceException } from "@aws-sdk/client-ec2";
import type { Ec2FleetConfig } from "../ec2-fleet.ts";
import type { LaunchRequest } from "../worker-fleet.ts";

/** A fleet in two zones that repeats unanswered requests at once. */
export const testFleetConfig: Ec2FleetConfig = {
  region: "eu-central-1",
  fleetName: "reelkeep-test",
  launchTemplate: { id: "lt-0abc", version: "7" },
  subnets: [
    { zone: "eu-central-1a", subnetId: "subnet-a" },
    { zone: "eu-central-1b", subnetId: "subnet-b" },
  ],
  scratchDevice: "/dev/sdf",
  bootScript: "echo boot",
  workerEnv: { S3_BUCKET: "media" },
  retryDelaysMs: [0, 0],
};

/** Ten minutes in 10 GiB, which want eight vCPUs. */
export const testLaunch: LaunchRequest = {
  actionKey: "0198c1de-0000-7000-8000-000000000001",
  generation: 2,
  provisioningToken: "0198c1de-0000-7000-8000-0000000000ff",
  sourceSizeBytes: 10 * 2 ** 30,
  sourceDurationSeconds: 600,
  profile: "hls-ts-v1",
};

/** An error as the SDK makes it of EC2's answer. */
export const ec2Refusal = (name: string, httpStatusCode = 400, message = ""): EC2ServiceException =>
  new EC2ServiceException({ name, message, $fault: "client", $metadata: { httpStatusCode } });
