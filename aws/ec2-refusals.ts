import { EC2ServiceException } from "@aws-sdk/client-ec2";

/**
 * What an error of RunInstances means for the launch. All but `unknown` are definite: no machine comes of the request.
 *
 * - `no-capacity`: not now. `next` says what may still be asked: the next zone or type, or only another type; or
 *   nothing, because a limit holds for all of them.
 * - `unsupported`: never this type in this zone; the next candidate may do.
 * - `throttled`: too many requests. Nothing more is asked.
 * - `ended`: the request's client token once gave a machine, which is gone.
 * - `invalid`: our own fault, which another candidate would meet too.
 * - `unknown`: a machine may be coming.
 */
export type LaunchVerdict =
  | { readonly kind: "no-capacity"; readonly next: "candidate" | "type" | "none" }
  | { readonly kind: "unsupported" }
  | { readonly kind: "throttled" }
  | { readonly kind: "ended" }
  | { readonly kind: "invalid" }
  | { readonly kind: "unknown" };

const capacity = { kind: "no-capacity", next: "candidate" } as const;
const typeLimit = { kind: "no-capacity", next: "type" } as const;
const accountLimit = { kind: "no-capacity", next: "none" } as const;
const unsupported = { kind: "unsupported" } as const;
const throttled = { kind: "throttled" } as const;
const ended = { kind: "ended" } as const;
const unknown = { kind: "unknown" } as const;

/**
 * By code, because the HTTP status doesn't tell: missing capacity and throttling are server errors (5xx) like a
 * broken server, and a client token used with other parameters is a client error (4xx) though a machine may live.
 * https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
 */
const verdicts: Readonly<Record<string, LaunchVerdict>> = {
  InsufficientInstanceCapacity: capacity,
  InsufficientHostCapacity: capacity,
  InsufficientReservedInstanceCapacity: capacity,
  InsufficientCapacity: capacity,
  // The disk and the address lie in the same zone as the machine.
  InsufficientVolumeCapacity: capacity,
  InsufficientFreeAddressesInSubnet: capacity,

  // The account's limits on a family's running vCPUs, in all zones of the region.
  VcpuLimitExceeded: typeLimit,
  InstanceLimitExceeded: typeLimit,
  // The account's limit on disks, whatever the type.
  VolumeLimitExceeded: accountLimit,

  // A zone that doesn't have the type, or a type that the image doesn't boot on.
  Unsupported: unsupported,
  UnsupportedOperation: unsupported,

  // EC2's own is the first; the SDK takes the others for throttling too.
  // https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
  RequestLimitExceeded: throttled,
  Throttling: throttled,
  ThrottlingException: throttled,
  ThrottledException: throttled,
  RequestThrottled: throttled,
  RequestThrottledException: throttled,
  TooManyRequestsException: throttled,
  EC2ThrottledException: throttled,

  IdempotentInstanceTerminated: ended,

  // An earlier request with this client token went through, with other parameters.
  IdempotentParameterMismatch: unknown,
  InternalError: unknown,
  InternalFailure: unknown,
  ServerInternal: unknown,
  ServiceUnavailable: unknown,
  Unavailable: unknown,
};

/** Judges what RunInstances threw. Anything without an answer from EC2 (a cut connection, a timeout) is `unknown`. */
export function judgeLaunchError(error: unknown): LaunchVerdict {
  if (!(error instanceof EC2ServiceException)) return unknown;
  const status = error.$metadata.httpStatusCode ?? 500;
  return verdicts[error.name] ?? (status >= 400 && status < 500 ? { kind: "invalid" } : unknown);
}

/**
 * TerminateInstances doesn't know the machine: it is long gone, or the id is of another kind of fleet. EC2 may also
 * say so of one that it launched a moment ago. https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
 */
export const isMissingInstance = (error: unknown): boolean =>
  error instanceof EC2ServiceException &&
  ["InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"].includes(error.name);

/** EC2's code and words, at most 300 characters: a refused permission brings kilobytes of encoded text. */
export const describeEc2Error = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 300);
