/**
 * CloudFront's policies: parsed and evaluated as the edge does it.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-custom-policy.html
 */
import { BlockList, isIP } from "node:net";
import { z } from "zod";

const epoch = z.object({ "AWS:EpochTime": z.number() });
const policySchema = z.object({
  Statement: z.tuple([
    z.object({
      Resource: z.string().min(1),
      Condition: z.object({
        DateLessThan: epoch,
        DateGreaterThan: epoch.optional(),
        IpAddress: z.object({ "AWS:SourceIp": z.string() }).optional(),
      }),
    }),
  ]),
});
export type Policy = z.infer<typeof policySchema>;

/** The policy in `json`, or null where it isn't one that CloudFront would take. */
export function parsePolicy(json: string): Policy | null {
  try {
    return policySchema.parse(JSON.parse(json));
  } catch {
    return null;
  }
}

/** The policy that a canned signature stands for, to the letter: its text is what was signed. */
export const cannedPolicy = (resource: string, expires: string): string =>
  `{"Statement":[{"Resource":"${resource}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`;

/** What a request is, to a policy. `url` without CloudFront's own parameters; `now` in seconds since 1970. */
export interface PolicyRequest {
  readonly url: string;
  readonly now: number;
  readonly ip: string;
}

/** Whether the policy lets this request through. */
export function allows({ Statement: [statement] }: Policy, request: PolicyRequest): boolean {
  const { DateLessThan, DateGreaterThan, IpAddress } = statement.Condition;
  return (
    matches(statement.Resource, request.url) &&
    request.now < DateLessThan["AWS:EpochTime"] &&
    (!DateGreaterThan || request.now > DateGreaterThan["AWS:EpochTime"]) &&
    (!IpAddress || isWithin(IpAddress["AWS:SourceIp"], request.ip))
  );
}

/** `*` stands for any characters, `?` for exactly one. Linear in the pattern: no regular expression to blow up. */
function matches(pattern: string, text: string): boolean {
  let [p, t] = [0, 0];
  let [star, mark] = [-1, 0];
  while (t < text.length) {
    if (p < pattern.length && pattern[p] !== "*" && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (pattern[p] === "*") {
      star = p++;
      mark = t;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/** `range` is an address or a CIDR block; one that is neither holds nobody. */
function isWithin(range: string, ip: string): boolean {
  const [network = "", bits, ...rest] = range.split("/");
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(network)] ?? -1;
  const prefix = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (rest.length > 0 || prefix < 0 || prefix > bitsMax || !isIP(ip)) return false;
  const list = new BlockList();
  list.addSubnet(network, prefix, familyOf(network));
  return list.check(ip, familyOf(ip));
}

const familyOf = (ip: string) => (isIP(ip) === 6 ? "ipv6" : "ipv4");
