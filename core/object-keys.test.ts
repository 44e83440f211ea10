import { describe, expect, it } from "vitest";
import { attemptPrefix, parseAttemptPrefix, posterName, posterPattern } from "./object-keys.ts";

const actionKey = "11111111-1111-4111-8111-111111111111";
const prefixOf = (attemptNumber: number) => attemptPrefix({ userId: "u1", actionKey, attemptNumber });
/** A policy's `?` is any one character. */
const opens = (pattern: string, address: string) =>
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("?", ".")}$`).test(address);

describe("object keys", () => {
  it("D2 an attempt's prefix reads back, and nothing else reads as one", () => {
    expect(parseAttemptPrefix(prefixOf(12))).toEqual({ userId: "u1", actionKey, attemptNumber: 12 });
    for (const other of ["", prefixOf(1).slice(0, -1), `${prefixOf(1)}360p/`, `/${prefixOf(1)}`])
      expect(parseAttemptPrefix(other)).toBeNull();
  });

  it.each([1, 9, 10, 99])(
    "D4 the pattern of posters has the length of a poster's key (attempt %i)",
    (attemptNumber) => {
      const pattern = posterPattern({ userId: "u1", attemptNumber })!;
      const prefix = prefixOf(attemptNumber);
      expect(pattern).not.toContain("*");
      expect(opens(pattern, prefix + posterName(1))).toBe(true);
      expect(opens(pattern, `${prefix}master.m3u8?/${posterName(1)}`)).toBe(false);
      expect(opens(pattern, `${prefix.replace("u1", "u2")}${posterName(1)}`)).toBe(false);
    },
  );

  it("D2 an attempt of three digits has no pattern", () => {
    expect(posterPattern({ userId: "u1", attemptNumber: 100 })).toBeNull();
  });
});
