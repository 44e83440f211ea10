import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayedSize } from "./displayed-size.ts";
import { planLadder } from "./ladder.ts";
import { hlsTsUhdV1, hlsTsV1 } from "./profile.ts";

const sizes = (width: number, height: number) =>
  planLadder({ width, height }, 30, hlsTsV1).map((r) => `${r.name} ${r.width}x${r.height}`);

describe("M2 the ladder", () => {
  it.each([
    [1920, 1080, ["1080p 1920x1080", "720p 1280x720", "480p 854x480", "360p 640x360", "240p 426x240"]],
    [2160, 3840, ["1080p 1080x1920", "720p 720x1280", "480p 480x854", "360p 360x640", "240p 240x426"]],
    [1440, 1080, ["1080p 1440x1080", "720p 960x720", "480p 640x480", "360p 480x360", "240p 320x240"]],
  ])("M2 a source of %ix%i gets every rung that its box allows", (width, height, expected) => {
    expect(sizes(width, height)).toEqual(expected);
  });

  it("M2 1280x544 and 544x1280 keep their full size on top, because the box decides and not the height", () => {
    expect(sizes(1280, 544)[0]).toBe("720p 1280x544");
    expect(sizes(544, 1280)[0]).toBe("720p 544x1280");
  });

  it("M2 a source between two rungs keeps its own size, and has no near twin below it", () => {
    expect(sizes(1137, 640)).toEqual(["720p 1136x640", "480p 852x480", "360p 640x360", "240p 426x240"]);
    expect(sizes(768, 576)).toEqual(["480p 768x576", "360p 480x360", "240p 320x240"]);
  });

  it("M2 a source smaller than the smallest rung gets one rendition at its own size", () => {
    expect(sizes(176, 144)).toEqual(["240p 176x144"]);
    expect(sizes(161, 121)).toEqual(["240p 160x120"]);
    expect(sizes(1, 1)).toEqual(["240p 2x2"]);
  });

  it("M2 a picture larger than the largest rung stays inside that rung's box", () => {
    expect(sizes(3026, 1386)[0]).toBe("1080p 1920x880");
    expect(sizes(1080, 2340)[0]).toBe("1080p 886x1920");
    expect(planLadder({ width: 7680, height: 4320 }, 30, hlsTsUhdV1)[0]).toMatchObject({
      name: "2160p",
      width: 3840,
      height: 2160,
    });
  });

  const side = fc.integer({ min: 1, max: 8192 });
  const profile = fc.constantFrom(hlsTsV1, hlsTsUhdV1);

  it("M2 every source gets even sizes, never larger than itself, largest first, each name once", () => {
    fc.assert(
      fc.property(side, side, profile, (width, height, rules) => {
        const ladder = planLadder({ width, height }, 30, rules);
        expect(ladder.length).toBeGreaterThan(0);
        expect(new Set(ladder.map(({ name }) => name)).size).toBe(ladder.length);
        for (const [index, r] of ladder.entries()) {
          expect([r.width % 2, r.height % 2]).toEqual([0, 0]);
          expect(r.width).toBeLessThanOrEqual(Math.max(2, width));
          expect(r.height).toBeLessThanOrEqual(Math.max(2, height));
          const larger = ladder[index - 1];
          if (larger) expect(r.width * r.height).toBeLessThanOrEqual(larger.width * larger.height * 0.85);
        }
      }),
    );
  });

  it("M2 the aspect is right within 2 % wherever even sides allow it", () => {
    fc.assert(
      fc.property(side, side, profile, (width, height, rules) => {
        for (const r of planLadder({ width, height }, 30, rules)) {
          if (Math.min(r.width, r.height) < 100) continue;
          expect(Math.abs(r.width / r.height / (width / height) - 1)).toBeLessThan(0.02);
        }
      }),
    );
  });

  it("M2 upright and lying sources get the same ladder, turned", () => {
    fc.assert(
      fc.property(side, side, (width, height) => {
        const lying = planLadder({ width, height }, 30, hlsTsV1);
        const upright = planLadder({ width: height, height: width }, 30, hlsTsV1);
        expect(upright.map((r) => [r.name, r.height, r.width])).toEqual(
          lying.map((r) => [r.name, r.width, r.height]),
        );
      }),
    );
  });
});

describe("M2 the displayed size", () => {
  it.each([
    [720, 576, 16, 15, 0, 768, 576],
    [640, 360, 2, 1, 0, 1280, 360],
    [352, 288, 64, 45, 0, 501, 288],
    [1920, 1080, 1, 1, 90, 1080, 1920],
    [568, 320, 1, 1, 270, 320, 568],
    [1920, 1080, 1, 1, 180, 1920, 1080],
  ] as const)("M2 %ix%i at %i:%i turned %i° is seen as %ix%i", (w, h, num, den, rotation, seenW, seenH) => {
    expect(displayedSize({ width: w, height: h }, { num, den }, rotation)).toEqual({
      width: seenW,
      height: seenH,
    });
  });
});
