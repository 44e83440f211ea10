/**
 * The machines of EC2 that a job may run on, and how a job's size chooses among them. All of it is rows: a new
 * type, price or rule of thumb changes a table, never the code.
 */

/** What a profile's encoder runs on. */
export type Processor = "cpu" | "gpu";

/** One EC2 instance type: x86-64, because the workers' machine image is. */
export interface MachineType {
  readonly name: string;
  readonly vcpus: number;
  readonly memoryGib: number;
  readonly gpu: boolean;
  /** What an hour costs: on demand, Linux, us-east-1, without disk. */
  readonly usdPerHour: number;
}

/**
 * Of one size, the wanted family comes first. Prices are list prices of January 2026, for estimates: budgets and
 * costs that people see are approximate, and other regions cost up to half more.
 * https://aws.amazon.com/ec2/pricing/on-demand/
 */
export const machineTypes: readonly MachineType[] = [
  type("c7i.xlarge", 4, 8, 0.1785),
  type("c7a.xlarge", 4, 8, 0.20528),
  type("c6i.xlarge", 4, 8, 0.17),
  type("c7i.2xlarge", 8, 16, 0.357),
  type("c7a.2xlarge", 8, 16, 0.41056),
  type("c6i.2xlarge", 8, 16, 0.34),
  type("c7i.4xlarge", 16, 32, 0.714),
  type("c7a.4xlarge", 16, 32, 0.82112),
  type("c6i.4xlarge", 16, 32, 0.68),
  type("c7i.8xlarge", 32, 64, 1.428),
  type("c7a.8xlarge", 32, 64, 1.64224),
  type("c6i.8xlarge", 32, 64, 1.36),
  type("g6.xlarge", 4, 16, 0.8048, "gpu"),
  type("g5.xlarge", 4, 16, 1.006, "gpu"),
  type("g4dn.xlarge", 4, 16, 0.526, "gpu"),
  type("g6.2xlarge", 8, 32, 0.9776, "gpu"),
  type("g5.2xlarge", 8, 32, 1.212, "gpu"),
  type("g4dn.2xlarge", 8, 32, 0.752, "gpu"),
  type("g6.4xlarge", 16, 64, 1.3232, "gpu"),
  type("g5.4xlarge", 16, 64, 1.624, "gpu"),
  type("g4dn.4xlarge", 16, 64, 1.204, "gpu"),
  type("g6.8xlarge", 32, 128, 2.0144, "gpu"),
  type("g5.8xlarge", 32, 128, 2.448, "gpu"),
  type("g4dn.8xlarge", 32, 128, 2.176, "gpu"),
];

function type(
  name: string,
  vcpus: number,
  memoryGib: number,
  usdPerHour: number,
  processor: Processor = "cpu",
): MachineType {
  return { name, vcpus, memoryGib, gpu: processor === "gpu", usdPerHour };
}

/** What a profile costs to encode. Processor seconds are those of one vCPU. */
interface ProfileLoad {
  readonly profile: string;
  readonly processor: Processor;
  /** For each second of video: the ladder's lower steps, which every source gets. */
  readonly processorSecondsPerSecond: number;
  /** For each gigabyte (10^9 bytes): bytes stand for the pixels and frames that nobody has counted yet. */
  readonly processorSecondsPerGigabyte: number;
}

/**
 * From a measurement on x264 veryfast: a minute of 1080p30 at 8 Mb/s took 80 processor seconds for three
 * renditions, hence about 110 for the whole ladder. 2160p costs about four times 1080p.
 */
export const profileLoads: readonly ProfileLoad[] = [
  {
    profile: "hls-ts-v1",
    processor: "cpu",
    processorSecondsPerSecond: 1.5,
    processorSecondsPerGigabyte: 400,
  },
  {
    profile: "hls-ts-lite-v1",
    processor: "cpu",
    processorSecondsPerSecond: 1,
    processorSecondsPerGigabyte: 350,
  },
  {
    profile: "hls-ts-uhd-v1",
    processor: "cpu",
    processorSecondsPerSecond: 1.5,
    processorSecondsPerGigabyte: 1600,
  },
];

/** Up to so much work, a machine of so many vCPUs: a short video in minutes, twelve hours of it in one hour. */
const sizes = [
  { processorSecondsMax: 1_200, vcpus: 4 },
  { processorSecondsMax: 7_200, vcpus: 8 },
  { processorSecondsMax: 36_000, vcpus: 16 },
  { processorSecondsMax: Number.POSITIVE_INFINITY, vcpus: 32 },
] as const;

/** Where the duration is unknown, the source is taken for a long one of few bits. */
const assumedBitRateBps = 2_000_000;

/** The worker refuses to begin with less free disk than this (M9): three times the source, 100 MB at least. */
export const scratchBytesNeeded = (sourceSizeBytes: number): number =>
  Math.max(3 * sourceSizeBytes, 100_000_000);

/** A1: the disk is four times the source, so that what the file system keeps for itself leaves enough (M9). */
const diskPerSource = 4;
const diskGibMin = 8;

/** What is known of a job before anybody has decoded it. */
export interface JobSize {
  readonly sourceSizeBytes: number;
  /** Null where the cheap probe couldn't tell. */
  readonly sourceDurationSeconds: number | null;
  readonly profile: string;
}

/** Machines that would do, best first: the wanted size in each family, then the next size up. At least two. */
export interface MachineChoice {
  readonly types: readonly MachineType[];
  readonly diskGib: number;
  /** After so long the machine goes by itself, whatever it is doing: nobody else may be left who would end it. */
  readonly lifetimeMinutes: number;
}

/** So much longer than a job should take that only what hangs or was forgotten meets it. */
const lifetime = { leastMinutes: 120, perEstimatedMinute: 8 };

/** J9: the machines for one job, by its bytes, duration and profile. An unknown profile is taken for the heaviest. */
export function machinesFor({ sourceSizeBytes, sourceDurationSeconds, profile }: JobSize): MachineChoice {
  const load = profileLoads.find((row) => row.profile === profile) ?? profileLoads.at(-1)!;
  const seconds = sourceDurationSeconds ?? (sourceSizeBytes * 8) / assumedBitRateBps;
  const work =
    seconds * load.processorSecondsPerSecond + (sourceSizeBytes / 1e9) * load.processorSecondsPerGigabyte;
  const { vcpus } = sizes.find((row) => work <= row.processorSecondsMax) ?? sizes.at(-1)!;
  const estimatedMinutes = work / vcpus / 60;
  return {
    types: typesWith(load.processor, vcpus),
    diskGib: Math.max(diskGibMin, Math.ceil((diskPerSource * sourceSizeBytes) / 2 ** 30)),
    lifetimeMinutes: Math.ceil(lifetime.leastMinutes + lifetime.perEstimatedMinute * estimatedMinutes),
  };
}

/** Types of this size and of the next one up, in the table's order. */
export const typesWith = (processor: Processor, vcpus: number): MachineType[] =>
  machineTypes.filter(
    (row) => row.gpu === (processor === "gpu") && (row.vcpus === vcpus || row.vcpus === 2 * vcpus),
  );

const dearestUsdPerHour = Math.max(...machineTypes.map((row) => row.usdPerHour));

/** A type's price; one that isn't in the table (an older release launched it) counts as the dearest. */
export const usdPerHourOf = (name: string): number =>
  machineTypes.find((row) => row.name === name)?.usdPerHour ?? dearestUsdPerHour;
