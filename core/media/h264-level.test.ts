import { describe, expect, it } from "vitest";
import { avcCodecString, h264Level, isPlannedAvc } from "./h264-level.ts";

describe("M3 H.264 levels and codec strings", () => {
  it.each([
    [1920, 1080, 30, 40],
    [1920, 1080, 60, 42],
    [1280, 720, 30, 31],
    [1280, 720, 60, 32],
    [640, 360, 30, 30],
    [3840, 2160, 30, 51],
    [3840, 2160, 60, 52],
    [176, 144, 15, 10],
  ])("M3 %ix%i at %i fps is level %i", (width, height, frameRate, level) => {
    expect(h264Level({ width, height, frameRate, maxRateBps: 60_000 })).toBe(level);
  });

  it("M3 the bit rate may raise the level", () => {
    expect(h264Level({ width: 176, height: 144, frameRate: 15, maxRateBps: 1_000_000 })).toBe(20);
  });

  it("M3 the codec string is the stream's own, and is compared with the plan by profile and level", () => {
    const codec = avcCodecString({ profileIdc: 100, constraints: 0, levelIdc: 31 });
    expect(codec).toBe("avc1.64001f");
    expect(isPlannedAvc(codec, { profile: "high", levelIdc: 31 })).toBe(true);
    expect(isPlannedAvc("avc1.4d401f", { profile: "high", levelIdc: 31 })).toBe(false);
    expect(isPlannedAvc("avc1.640028", { profile: "high", levelIdc: 31 })).toBe(false);
    expect(isPlannedAvc("hvc1.1.6.L93", { profile: "high", levelIdc: 31 })).toBe(false);
  });
});
