import { hlsTsV1, profileNames } from "@reelkeep/core/media/profile";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type JobSize,
  machinesFor,
  machineTypes,
  profileLoads,
  scratchBytesNeeded,
  typesWith,
  usdPerHourOf,
} from "./machine-types.ts";

/** Often small, where the tables' limits lie close together. */
const bytes = fc.oneof(fc.nat({ max: 2e9 }), fc.nat({ max: 1e12 }));
const seconds = fc.oneof(fc.nat({ max: 3600 }), fc.nat({ max: 7 * 24 * 3600 }));
const jobSize = fc.record({
  sourceSizeBytes: bytes,
  sourceDurationSeconds: fc.option(seconds),
  profile: fc.constantFrom(...profileNames, "of-a-newer-release"),
});
const vcpusOf = (size: JobSize) => machinesFor(size).types[0]!.vcpus;

describe("the machines for a job", () => {
  it("J9 of two sources, the one with more bytes or seconds never gets fewer vCPUs or a smaller disk", () => {
    fc.assert(
      fc.property(jobSize, bytes, seconds, (size, moreBytes, moreSeconds) => {
        const bigger = {
          ...size,
          sourceSizeBytes: size.sourceSizeBytes + moreBytes,
          sourceDurationSeconds:
            size.sourceDurationSeconds === null ? null : size.sourceDurationSeconds + moreSeconds,
        };
        expect(vcpusOf(bigger)).toBeGreaterThanOrEqual(vcpusOf(size));
        expect(machinesFor(bigger).diskGib).toBeGreaterThanOrEqual(machinesFor(size).diskGib);
      }),
      { numRuns: 1000 },
    );
  });

  it("J9 there are at least two types, each different, none smaller than the first and none more than twice as big", () => {
    fc.assert(
      fc.property(jobSize, (size) => {
        const { types } = machinesFor(size);
        const vcpus = types[0]!.vcpus;
        expect(types.length).toBeGreaterThanOrEqual(2);
        expect(new Set(types.map(({ name }) => name)).size).toBe(types.length);
        for (const each of types) {
          expect(each.vcpus).toBeGreaterThanOrEqual(vcpus);
          expect(each.vcpus).toBeLessThanOrEqual(2 * vcpus);
        }
      }),
    );
  });

  it("M9 the disk holds what the worker asks for, with a tenth left for the file system", () => {
    fc.assert(
      fc.property(jobSize, (size) => {
        const usableBytes = machinesFor(size).diskGib * 2 ** 30 * 0.9;
        expect(usableBytes).toBeGreaterThanOrEqual(scratchBytesNeeded(size.sourceSizeBytes));
      }),
    );
  });

  it("J4 a machine is let live for hours longer than its job should take, and never for days", () => {
    const minutesFor = (sourceSizeBytes: number, sourceDurationSeconds: number) =>
      machinesFor({ sourceSizeBytes, sourceDurationSeconds, profile: hlsTsV1.name }).lifetimeMinutes;
    expect(minutesFor(20e6, 10)).toBe(121);
    expect(minutesFor(3.6e9, 3600)).toBeGreaterThan(3 * 60);
    expect(minutesFor(43e9, 12 * 3600)).toBeLessThan(12 * 60);
  });

  it.each([
    ["ten seconds from a phone", 20e6, 10, 4],
    ["ten minutes of 1080p", 600e6, 600, 4],
    ["an hour of 1080p", 3.6e9, 3600, 8],
    ["ten minutes of 2160p at 100 Mb/s", 7.5e9, 600, 8],
    ["twelve hours of 1080p", 43e9, 12 * 3600, 32],
    ["2 GB of unknown duration", 2e9, null, 16],
  ])("J9 %s is sized by bytes and duration", (_, sourceSizeBytes, sourceDurationSeconds, vcpus) => {
    expect(vcpusOf({ sourceSizeBytes, sourceDurationSeconds, profile: hlsTsV1.name })).toBe(vcpus);
  });

  it("J9 the profile with 2160p gets more for the same source", () => {
    const source = { sourceSizeBytes: 7.5e9, sourceDurationSeconds: 600 };
    expect(vcpusOf({ ...source, profile: "hls-ts-uhd-v1" })).toBeGreaterThan(
      vcpusOf({ ...source, profile: "hls-ts-v1" }),
    );
  });
});

describe("the tables", () => {
  it("J9 every profile has a row, and today's run on machines without GPU", () => {
    expect(profileLoads.map(({ profile }) => profile)).toEqual(profileNames);
    for (const profile of profileNames) {
      const { types } = machinesFor({ sourceSizeBytes: 1e9, sourceDurationSeconds: 600, profile });
      expect(types.every(({ gpu }) => !gpu)).toBe(true);
    }
  });

  it.each(["cpu", "gpu"] as const)(
    "J9 %s has at least two types of each size, the wanted family first",
    (processor) => {
      for (const vcpus of [4, 8, 16, 32]) {
        const types = typesWith(processor, vcpus);
        expect(types.length).toBeGreaterThanOrEqual(2);
        expect(types.every(({ gpu }) => gpu === (processor === "gpu"))).toBe(true);
        expect(types[0]!.name).toMatch(processor === "gpu" ? /^g6\./ : /^c7i\./);
        expect(types[0]!.vcpus).toBe(vcpus);
      }
    },
  );

  it("J8 a type that nobody knows any more costs as much as the dearest, not nothing", () => {
    expect(usdPerHourOf("c7i.2xlarge")).toBe(0.357);
    expect(usdPerHourOf("x1.unknown")).toBe(Math.max(...machineTypes.map(({ usdPerHour }) => usdPerHour)));
  });
});
