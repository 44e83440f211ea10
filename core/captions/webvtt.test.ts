import { describe, expect, it } from "vitest";
import { parseWebvtt, segmentWebvtt, stringifyWebvtt, webvttTime } from "./webvtt.ts";

const cue = (startSeconds: number, endSeconds: number, text: string, settings = "") => ({
  ...{ startSeconds, endSeconds, settings, text },
});

describe("WebVTT", () => {
  it("M4 cues are read with or without hours, names and settings", () => {
    const text =
      "WEBVTT - a film\r\n\r\nNOTE not a cue\r\n\r\nfirst\r\n00:01.500 --> 00:02.000 line:0 align:start\r\n<i>Hello</i>\r\nthere\r\n\r\n" +
      "01:00:00.000 --> 01:00:01.000\nlate\n\n00:03.000 --> 00:03.000\nno time\n\n00:04.000 --> 00:05.000\n\n";
    expect(parseWebvtt(text)).toEqual([
      cue(1.5, 2, "<i>Hello</i>\nthere", "line:0 align:start"),
      cue(3600, 3601, "late"),
    ]);
  });

  it("M4 what was written is read back the same", () => {
    const cues = [cue(0, 1.001, "a"), cue(3599.9996, 360_000.5, "b\nc", "line:0")];
    expect(parseWebvtt(stringifyWebvtt(cues))).toEqual([cues[0], { ...cues[1]!, startSeconds: 3600 }]);
    expect(webvttTime(360_061.25)).toBe("100:01:01.250");
  });

  it("M4 rubbish holds no cues", () => {
    for (const text of ["", "WEBVTT", "00:00.000 --> x\nhm", "\u0000\u0000", "-->\n-->\n\n-->"])
      expect(parseWebvtt(text)).toEqual([]);
  });

  it("M4 a cue that reaches over a cut is in both files, and all files last as long as the film", () => {
    const cues = [cue(1, 2, "one"), cue(5, 13, "long"), cue(12, 12.5, "last")];
    const files = segmentWebvtt(cues, { durationSeconds: 13, segmentSeconds: 6, clockOffsetSeconds: 0.4 });
    expect(files.map(({ durationSeconds }) => durationSeconds)).toEqual([6, 6, 1]);
    expect(files.map(({ text }) => parseWebvtt(text).map((c) => c.text))).toEqual([
      ["one", "long"],
      ["long"],
      ["long", "last"],
    ]);
    expect(files[0]!.text.split("\n").slice(0, 3)).toEqual([
      "WEBVTT",
      "X-TIMESTAMP-MAP=MPEGTS:36000,LOCAL:00:00:00.000",
      "",
    ]);
  });
});
