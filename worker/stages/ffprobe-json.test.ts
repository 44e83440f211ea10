import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFfprobe } from "./ffprobe-json.ts";

const parseStream = (stream: object) =>
  parseFfprobe(JSON.stringify({ streams: [{ index: 0, ...stream }] }))?.streams[0];

describe("M1 what FFprobe says", () => {
  it("M1 values that are missing, unknown or half numbers never raise an error", () => {
    const stream = parseStream({
      codec_name: "unknown",
      width: "N/A",
      height: "240|",
      duration: "N/A",
      start_time: "0.5|",
      avg_frame_rate: "0/0",
      r_frame_rate: "30000/1001",
      sample_aspect_ratio: "0:1",
      disposition: null,
      tags: { language: 7 },
      side_data_list: [{ side_data_type: "Display Matrix", rotation: -90 }, 7],
    });
    expect(stream).toMatchObject({
      codec_name: null,
      width: null,
      height: 240,
      duration: null,
      start_time: 0.5,
      avg_frame_rate: null,
      r_frame_rate: { num: 30_000, den: 1001 },
      sample_aspect_ratio: null,
      disposition: {},
      tags: { language: "" },
    });
  });

  it("M1 one unreadable entry doesn't take the others away", () => {
    const answer = parseFfprobe(
      JSON.stringify({
        streams: [{ index: "x" }, null, { index: 1, codec_type: "audio" }],
        format: { duration: "abc" },
      }),
    );
    expect(answer?.streams.map(({ index, codec_type }) => [index, codec_type])).toEqual([[1, "audio"]]);
    expect(answer?.format.duration).toBeNull();
    const rotated = parseStream({ side_data_list: ["?", { rotation: "90" }] });
    expect(rotated?.side_data_list.map(({ rotation }) => rotation)).toEqual([90]);
  });

  it("M1 an empty answer has no streams, and no answer is null", () => {
    expect(parseFfprobe("{}")).toMatchObject({ streams: [], frames: [] });
    expect(parseFfprobe("")).toBeNull();
    expect(parseFfprobe('{"streams":[')).toBeNull();
    expect(parseFfprobe("[]")).toBeNull();
  });

  it("M1 any JSON is read or refused, never a fault", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        parseFfprobe(JSON.stringify({ streams: [value], frames: value, format: value }));
        parseFfprobe(JSON.stringify(value));
      }),
    );
  });
});
