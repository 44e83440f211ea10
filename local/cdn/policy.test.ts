import { describe, expect, it } from "vitest";
import { allows, cannedPolicy, parsePolicy } from "./policy.ts";

const now = 1_800_000_000;
const url = "http://localhost:8080/processed/u/a/attempt-1/360p/segment_00001.ts";
const policyOf = (resource: string, condition: object = {}) =>
  parsePolicy(
    JSON.stringify({
      Statement: [
        {
          Resource: resource,
          Condition: { DateLessThan: { "AWS:EpochTime": now + 60 }, ...condition },
        },
      ],
    }),
  )!;
const lets = (resource: string, condition: object = {}, ip = "127.0.0.1") =>
  allows(policyOf(resource, condition), { url, now, ip });

describe("CloudFront's policies", () => {
  it.each([
    [url, true],
    ["*", true],
    ["http*://localhost:8080/*", true],
    ["http://localhost:8080/processed/u/a/attempt-1/*", true],
    ["http://localhost:8080/processed/?/a/attempt-1/*.ts", true],
    ["http://localhost:8080/processed/u/*/segment_0000?.ts*", true],
    ["http://localhost:8080/processed/u/a/attempt-1/*.m3u8", false],
    ["http://localhost:8080/processed/u/a/attempt-2/*", false],
    ["http://localhost:8080/processed/u/a/attempt-1/", false],
    ["http://localhost:8080/processed/??/a/attempt-1/*", false],
    ["http://127.0.0.1:8080/*", false],
    ["https://localhost:8080/*", false],
    ["http://localhost:8080/processed/u/a/attempt-1/360p/segment.00001.ts", false],
  ])("D4 the resource %s opens what it names and nothing else", (resource, opened) => {
    expect(lets(resource)).toBe(opened);
  });

  it("D4 a hostile pattern is answered at once", () => {
    expect(allows(policyOf(`${"*a".repeat(200)}b`), { url: "a".repeat(4000), now, ip: "" })).toBe(false);
  });

  it("D4 a policy ends at its second and begins after its own", () => {
    const at = (seconds: number, condition: object) =>
      allows(policyOf("*", condition), { url, now: seconds, ip: "" });
    expect(at(now + 59.9, {})).toBe(true);
    expect(at(now + 60, {})).toBe(false);
    const later = { DateGreaterThan: { "AWS:EpochTime": now } };
    expect(at(now, later)).toBe(false);
    expect(at(now + 1, later)).toBe(true);
  });

  it.each([
    ["192.0.2.0/24", "192.0.2.77", true],
    ["192.0.2.0/24", "192.0.3.1", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.8", false],
    ["0.0.0.0/0", "203.0.113.9", true],
    ["2001:db8::/32", "2001:db8::1", true],
    ["2001:db8::/32", "192.0.2.7", false],
    ["192.0.2.0/33", "192.0.2.7", false],
    ["192.0.2.0/", "192.0.2.7", false],
    ["192.0.2.0/24/1", "192.0.2.7", false],
    ["anything", "192.0.2.7", false],
    ["192.0.2.0/24", "", false],
  ])("D4 a policy for %s asked from %s: %s", (range, ip, opened) => {
    expect(lets("*", { IpAddress: { "AWS:SourceIp": range } }, ip)).toBe(opened);
  });

  it.each([
    ["not JSON", "policy"],
    ["no statement", '{"Statement":[]}'],
    ["no end", '{"Statement":[{"Resource":"*","Condition":{}}]}'],
    [
      "an end in words",
      '{"Statement":[{"Resource":"*","Condition":{"DateLessThan":{"AWS:EpochTime":"9"}}}]}',
    ],
    ["two statements", JSON.stringify({ Statement: Array(2).fill(policyOf("*").Statement[0]) })],
  ])("D4 a policy with %s is none", (_, text) => {
    expect(parsePolicy(text)).toBeNull();
  });

  it("D4 a canned policy names one address and its end", () => {
    const canned = parsePolicy(cannedPolicy(url, String(now + 1)))!;
    expect(allows(canned, { url, now, ip: "" })).toBe(true);
    expect(allows(canned, { url: `${url}?size=2`, now, ip: "" })).toBe(false);
    expect(allows(canned, { url, now: now + 1, ip: "" })).toBe(false);
  });
});
