import { describe, expect, it } from "vitest";
import { SpeedMeter } from "./speed-meter.ts";

describe("the speed of an upload", () => {
  it("U3 claims nothing before a second has been measured", () => {
    const meter = new SpeedMeter();
    expect(meter.bytesPerSecond()).toBeNull();
    meter.note(0, 0);
    meter.note(500_000, 900);
    expect(meter.bytesPerSecond()).toBeNull();
  });

  it("U3 is bytes over time", () => {
    const meter = new SpeedMeter();
    for (let second = 0; second <= 4; second += 1) meter.note(second * 2_000_000, second * 1000);
    expect(meter.bytesPerSecond()).toBe(2_000_000);
  });

  it("U3 follows a change within the window and forgets what lies before it", () => {
    const meter = new SpeedMeter();
    for (let second = 0; second <= 60; second += 1) meter.note(second * 1_000_000, second * 1000);
    for (let second = 61; second <= 70; second += 1)
      meter.note(60_000_000 + (second - 60) * 100, second * 1000);
    expect(meter.bytesPerSecond()).toBeCloseTo(100);
  });

  it("U3 a restart of the file isn't a negative speed", () => {
    const meter = new SpeedMeter();
    meter.note(0, 0);
    meter.note(9_000_000, 3_000);
    meter.note(0, 4_000);
    meter.note(3_000_000, 6_000);
    expect(meter.bytesPerSecond()).toBe(1_500_000);
  });
});
