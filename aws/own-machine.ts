import { AppError } from "@reelkeep/core/errors";
import { NodeHttpHandler } from "@smithy/node-http-handler";

/** The machine that this process runs on. */
export interface OwnMachine {
  /** What its fleet calls it; null where it has no name. */
  id(): Promise<string | null>;
  /** J4: ends the machine, and this process with it, soon after. Nothing happens where the process is all there is. */
  end(): Promise<void>;
}

export type OwnMachineConfig =
  /** A process of a machine that stays. */
  | { readonly kind: "process"; readonly machineId: string | null }
  | {
      readonly kind: "ec2";
      readonly region: string;
      /** Where the instance metadata service answers. */
      readonly metadataEndpoint?: string;
      /** How long it may take, in milliseconds. */
      readonly metadataTimeoutMs?: number;
    };

/**
 * The same on every machine.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
 */
const defaultMetadataEndpoint = "http://169.254.169.254";
/** The service is on the machine itself and answers within milliseconds; a worker that leaves mustn't hang. */
const defaultMetadataTimeoutMs = 1_000;
const metadataTries = 3;
const metadataTokenSeconds = 60;

/**
 * How a worker tells and ends its machine. On EC2 both methods throw AppError `internal` where there is no metadata
 * service (this isn't EC2, or a container is more network hops away than the launch template allows), and `end` also
 * where the machine's role may not terminate it; then the fleet's reaper is what is left.
 */
export function createOwnMachine(config: OwnMachineConfig): OwnMachine {
  if (config.kind === "process") return { id: async () => config.machineId, end: async () => {} };
  const id = () => readInstanceId(config);
  return {
    id,
    async end() {
      const instanceId = await id();
      // Loaded when it is needed: EC2's client takes 60 MB, which a worker is better off without while FFmpeg runs.
      const { EC2Client, TerminateInstancesCommand } = await import("@aws-sdk/client-ec2");
      const ec2 = new EC2Client({
        region: config.region,
        // The worker's last request: nobody else is there to repeat it.
        maxAttempts: 6,
        requestHandler: new NodeHttpHandler({
          connectionTimeout: 3_000,
          requestTimeout: 10_000,
          throwOnRequestTimeout: true,
        }),
      });
      try {
        await ec2.send(new TerminateInstancesCommand({ InstanceIds: [instanceId] }));
      } catch (cause) {
        throw new AppError("internal", { message: "This machine couldn't end itself.", cause });
      } finally {
        ec2.destroy();
      }
    },
  };
}

/** IMDSv2: a token by PUT, then the value by GET; asked again a few times, because a machine at its start is busy. */
async function readInstanceId({
  metadataEndpoint = defaultMetadataEndpoint,
  metadataTimeoutMs = defaultMetadataTimeoutMs,
}: Extract<OwnMachineConfig, { kind: "ec2" }>): Promise<string> {
  const ask = async (path: string, init: RequestInit): Promise<string> => {
    const response = await fetch(new URL(path, metadataEndpoint), {
      ...init,
      signal: AbortSignal.timeout(metadataTimeoutMs),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return text;
  };
  for (let attempt = 1; ; attempt++) {
    try {
      const token = await ask("/latest/api/token", {
        method: "PUT",
        headers: { "X-aws-ec2-metadata-token-ttl-seconds": String(metadataTokenSeconds) },
      });
      const id = await ask("/latest/meta-data/instance-id", {
        headers: { "X-aws-ec2-metadata-token": token },
      });
      if (!/^i-[0-9a-f]+$/.test(id)) throw new Error("what answered isn't an instance's id");
      return id;
    } catch (cause) {
      if (attempt === metadataTries)
        throw new AppError("internal", {
          message: "No instance metadata service answers here, so this machine's id isn't known.",
          cause,
        });
    }
  }
}
