import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { testTools } from "../testing/media.ts";
import { type GpuAbility, gpuRefusalOf, gpuRefusals, tryGpu } from "./gpu.ts";
import { listParts } from "./parts.ts";

const hasCard = existsSync("/dev/nvidiactl");

describe("what FFmpeg and the graphics card do together", () => {
  it("M6 each part works, or is refused with one of our words", async () => {
    const abilities = await tryGpu(testTools, await listParts(testTools));
    const words = (ability: GpuAbility) => (ability === "works" ? [] : [ability.refused]);
    expect(Object.keys(abilities)).toEqual(["nvdec", "scaleCuda", "nvenc"]);
    for (const word of Object.values(abilities).flatMap(words)) expect(gpuRefusals).toContain(word);
  });

  it.skipIf(hasCard)("M6 a machine without a driver says so of each part that FFmpeg has", async () => {
    const parts = { cuda: true, scaleCuda: false, h264Nvenc: true };
    expect(await tryGpu(testTools, parts)).toEqual({
      nvdec: { refused: "no-driver" },
      scaleCuda: { refused: "not-built-in" },
      nvenc: { refused: "no-driver" },
    });
  });

  it.each([
    ["no-driver", "[h264_nvenc @ 0x55] Cannot load libcuda.so.1"],
    ["driver-incomplete", "[h264_nvenc @ 0x55] Cannot load libnvidia-encode.so.1"],
    ["driver-incomplete", "[h264 @ 0x55] Cannot load libnvcuvid.so.1"],
    ["driver-too-old", "Driver does not support the required nvenc API version. Required: 12.1 Found: 11.1"],
    ["no-device", "cu->cuInit(0) failed -> CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"],
    ["not-on-this-card", "OpenEncodeSessionEx failed: unsupported device (2): (no details)"],
    ["not-on-this-card", "[h264_nvenc @ 0x55] No capable devices found"],
    ["in-use", "OpenEncodeSessionEx failed: out of memory (10): (no details)"],
    ["failed", "something that nobody has seen yet"],
  ])("M6 %s: %s", (word, line) => {
    expect(gpuRefusalOf(line)).toBe(word);
  });
});
