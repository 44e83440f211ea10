import { hlsTsV1 } from "@reelkeep/core/media/profile";
import { describe, expect, it } from "vitest";
import type { VideoProbe } from "../stages/describe-video.ts";
import { passesOf } from "../stages/passes.ts";
import { planEncode } from "../stages/plan.ts";
import type { AudioProbe } from "../stages/probe.ts";
import { testTools } from "../testing/media.ts";
import { encodeArgs } from "./args.ts";
import { cpuEngine, type EncoderEngine, encoderOptions, engineFor, nvencEngine } from "./engines.ts";
import { gpuRefusalOf } from "./gpu.ts";
import { run } from "./run.ts";

const video: VideoProbe = {
  index: 0,
  codec: "h264",
  decoder: null,
  coded: { width: 1280, height: 720 },
  pixelAspect: { num: 1, den: 1 },
  isMirrored: false,
  rotation: 0,
  displayed: { width: 1280, height: 720 },
  frameRate: 25,
  frameRateBase: 25,
  pixelFormat: "yuv420p",
  isFullRange: false,
  colorMatrix: "bt709",
  colorPrimaries: "bt709",
  hdr: null,
  peakNits: 1000,
  isInterlaced: false,
  h264: null,
  lateSeconds: 0,
};
const sound: AudioProbe = {
  index: 1,
  codec: "aac",
  profile: "LC",
  channels: 2,
  layout: "stereo",
  lateSeconds: 0,
  sampleRateHz: 48_000,
  language: null,
  title: null,
  isDefault: true,
  endSeconds: 10,
};

/** What FFmpeg is told for a source like this one. */
function argsFor(engine: EncoderEngine, change: Partial<VideoProbe>, audio = [sound]): string[] {
  const source = { container: "mov", sizeBytes: 1_000_000, durationSeconds: 10, subtitles: [] };
  const plan = planEncode({ ...source, video: { ...video, ...change }, audio }, hlsTsV1);
  const [pass] = passesOf(plan);
  return encodeArgs({ plan, pass: pass!, sourcePath: "/tmp/x", preset: "veryfast", engine, firstSegment: 1 });
}

/** The chains of the pictures, one for each rendition and the storyboard's, without the choice of frames. */
function chains(args: readonly string[]): string[] {
  const graph = args[args.indexOf("-filter_complex") + 1]!;
  return graph.split(";").map((chain) => chain.replace(/select='[^']*',/, ""));
}
const optionOf = (args: readonly string[], name: string) => args[args.indexOf(name) + 1];

describe("what FFmpeg is told for a card", () => {
  it("M6 a plain picture stays on the card from the decoder to the encoder", () => {
    const args = argsFor(nvencEngine, {});
    const decoding = args.slice(args.indexOf("-hwaccel"), args.indexOf("-i"));
    expect(decoding).toEqual([
      ...["-hwaccel", "cuda", "-hwaccel_output_format", "cuda", "-extra_hw_frames", "16"],
    ]);
    const [top, ...smaller] = chains(args);
    const storyboard = smaller.pop();
    expect(top).toBe(
      "[0:0]scale_cuda=1280:720:interp_algo=bicubic:format=yuv420p,setsar=1,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709,split=2[720p][below0]",
    );
    expect(smaller.length).toBe(3);
    for (const chain of smaller) expect(chain).not.toMatch(/hwdownload|hwupload|[^_]scale=/);
    expect(storyboard).toMatch(/^\[below\d\]fps=.*,hwdownload,format=yuv420p,scale=/);
  });

  it("M6 a rotated picture is scaled on the card, turned in memory and sent back", () => {
    const [top] = chains(argsFor(nvencEngine, { rotation: 90, displayed: { width: 720, height: 1280 } }));
    expect(top).toContain(
      "scale_cuda=1280:720:interp_algo=bicubic:format=yuv420p,hwdownload,format=yuv420p,transpose=clock,setsar=1",
    );
    expect(top).toMatch(/format=yuv420p,hwupload_cuda,split=2\[720p\]/);
  });

  it.each([
    [
      "HDR",
      { hdr: "pq", codec: "hevc", pixelFormat: "yuv420p10le", colorMatrix: "bt2020nc" },
      "p010le",
      "tonemap=",
    ],
    ["interlaced pictures", { isInterlaced: true }, "nv12", "bwdif="],
    ["full range", { isFullRange: true, pixelFormat: "yuvj420p" }, "nv12", "in_range=pc"],
    ["colours of SD", { colorMatrix: "smpte170m" }, "nv12", "in_color_matrix=bt601"],
  ] as const)(
    "M6 %s are fetched first, treated as without a card and sent back",
    (_, change, format, step) => {
      const [top, second] = chains(argsFor(nvencEngine, change));
      expect(top).toMatch(new RegExp(`^\\[0:0\\]hwdownload,format=${format},`));
      const treated = chains(argsFor(cpuEngine, change))[0]!.replace("[0:0]", "").split(",split=2")[0]!;
      expect(treated).toContain(step);
      expect(top).toContain(`format=${format},${treated},format=yuv420p,hwupload_cuda,split=2`);
      expect(second).toContain("scale_cuda=");
    },
  );

  it("M6 ten bits of plain colours become eight on the card", () => {
    const args = argsFor(nvencEngine, { codec: "hevc", pixelFormat: "yuv420p10le" });
    expect(args).toContain("-hwaccel");
    expect(chains(args)[0]).toMatch(/^\[0:0\]scale_cuda=1280:720:interp_algo=bicubic:format=yuv420p,setsar/);
  });

  it.each([
    ["a codec", { codec: "prores", pixelFormat: "yuv422p10le" }],
    ["4:4:4 of H.264", { pixelFormat: "yuv444p" }],
    ["ten bits of H.264", { pixelFormat: "yuv420p10le" }],
    ["what can be seen through", { codec: "vp9", pixelFormat: "yuva420p", alphaDecoder: "libvpx-vp9" }],
  ])("M6 %s that cards don't decode is decoded in memory and encoded on the card", (_, change) => {
    const args = argsFor(nvencEngine, change);
    expect(args).not.toContain("-hwaccel");
    const [top, second] = chains(args);
    expect(top).not.toContain("hwdownload");
    expect(top).toMatch(/,format=yuv420p,hwupload_cuda,split=2\[720p\]/);
    expect(second).toContain("scale_cuda=");
    expect(args).toContain("h264_nvenc");
  });

  it("M6 a film without sound has no sound's words", () => {
    const args = argsFor(nvencEngine, {}, []);
    expect(args.join(" ")).not.toMatch(/:a:0|aresample/);
    expect(args).toContain("-hwaccel");
  });

  it("M6 quality is capped, keyframes are forced ones and closed, captions are left out", () => {
    const args = argsFor(nvencEngine, {});
    const said = [
      "c",
      "preset",
      "tune",
      "rc",
      "b",
      "forced-idr",
      "no-scenecut",
      "g",
      "a53cc",
      "cq",
      "maxrate",
    ];
    expect(said.map((name) => optionOf(args, `-${name}:v:0`))).toEqual([
      "h264_nvenc",
      "p4",
      "hq",
      "vbr",
      "0",
      "1",
      "1",
      "100000",
      "0",
      "23",
      "3200000",
    ]);
    const kind = ["bufsize", "profile", "level"].map((name) => optionOf(args, `-${name}:v:0`));
    expect(kind).toEqual(["6400000", "high", "3.1"]);
    expect(optionOf(args, "-force_key_frames:v:0")).toBe(
      optionOf(argsFor(cpuEngine, {}), "-force_key_frames:v:0"),
    );
    expect(args.join(" ")).not.toMatch(/libx264|-crf|sc_threshold/);
  });

  it("M6 each word is one that FFmpeg knows: where it fails, it fails for the card", async () => {
    const rung = { crf: 23, maxRateBps: 900_000, h264Profile: "high", h264LevelIdc: 31 } as const;
    const options = encoderOptions(nvencEngine, rung, { preset: "veryfast", reordersFrames: false });
    const source = ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=256x144:duration=0.2"];
    const words = options.flatMap(([name, value]) => [`-${name}:v:0`, String(value)]);
    const args = [...source, "-pix_fmt", "yuv420p", ...words, "-f", "null", "-"];
    const { exitCode, stderrTail } = await run(testTools, "ffmpeg", args, { files: { gpu: true } });
    expect(exitCode === 0 ? "works" : gpuRefusalOf(stderrTail)).not.toBe("failed");
  });
});

describe("what FFmpeg is told without a card", () => {
  it("M6 nothing of one", () => {
    for (const change of [{}, { rotation: 90 as const }, { isInterlaced: true }])
      expect(argsFor(cpuEngine, change).join(" ")).not.toMatch(/cuda|nvenc|hwdownload|hwaccel/);
  });
});

describe("the choice", () => {
  const works = { nvdec: "works", scaleCuda: "works", nvenc: "works" } as const;

  it("M6 a card that does all of it is used", () => {
    expect(engineFor(works)).toBe(nvencEngine);
  });

  it.each(["nvdec", "scaleCuda", "nvenc"] as const)("M6 one without %s isn't", (missing) => {
    expect(engineFor({ ...works, [missing]: { refused: "not-on-this-card" } })).toBe(cpuEngine);
  });
});
