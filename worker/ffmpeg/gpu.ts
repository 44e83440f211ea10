/** What FFmpeg and the graphics card of this machine do together. Nothing is believed before it was tried. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { probeLimits, type RunLimits } from "./limits.ts";
import type { FfmpegParts } from "./parts.ts";
import { run } from "./run.ts";
import { inputUrl, type MediaTools } from "./tools.ts";

/**
 * Why something can't be used. `not-built-in`: this FFmpeg was built without it. `no-driver`: NVIDIA's driver isn't
 * there. `driver-incomplete`: its parts for video aren't, as in containers that asked for computing alone.
 * `driver-too-old`: for this FFmpeg. `no-device`: there is a driver, and no card that it may use. `not-on-this-card`:
 * the card has no such circuit, as H100, H200 and A100 have none that encodes. `in-use`: others have taken all of it.
 * `no-answer`: not in time. `failed`: anything else; FFmpeg's log tells.
 */
export const gpuRefusals = [
  "not-built-in",
  "no-driver",
  "driver-incomplete",
  "driver-too-old",
  "no-device",
  "not-on-this-card",
  "in-use",
  "no-answer",
  "failed",
] as const;
export type GpuRefusal = (typeof gpuRefusals)[number];

export type GpuAbility = "works" | { readonly refused: GpuRefusal };

export interface GpuAbilities {
  /** Decoding H.264 into the card's memory. */
  readonly nvdec: GpuAbility;
  /** Scaling there. */
  readonly scaleCuda: GpuAbility;
  /** Encoding H.264. */
  readonly nvenc: GpuAbility;
}

/** A card and its driver wake up in some seconds, eight of them in ten. */
const tryLimits: RunLimits = { ...probeLimits, wallSeconds: 30, cpuSeconds: 30, fileBytes: 2 ** 20 };

/** Above the smallest picture that any of NVIDIA's circuits takes. */
const picture = "testsrc2=size=256x144:rate=25:duration=0.4";
const quiet = ["-hide_banner", "-nostdin", "-nostats", "-v", "error"];
const nowhere = ["-f", "null", "-"];

/** Decoding into the card's memory; also what an encode's input is given. */
export const cudaDecoding: readonly string[] = ["-hwaccel", "cuda", "-hwaccel_output_format", "cuda"];

/**
 * Decodes, scales and encodes a few generated pictures, each by itself, in the cage and within limits as a video
 * would be: what the cage keeps from FFmpeg is refused here too.
 * @throws AppError `worker-failed` when FFmpeg can't be started.
 */
export async function tryGpu(
  tools: MediaTools,
  parts: Pick<FfmpegParts, "cuda" | "scaleCuda" | "h264Nvenc">,
): Promise<GpuAbilities> {
  const folder = await mkdtemp(join(tmpdir(), "reelkeep-gpu-"));
  const file = join(folder, "picture.mp4");
  const attempt = async (isBuiltIn: boolean, args: readonly string[]): Promise<GpuAbility> => {
    if (!isBuiltIn) return { refused: "not-built-in" };
    try {
      const files = { read: [folder], gpu: true };
      const { exitCode, stderrTail } = await run(tools, "ffmpeg", [...quiet, ...args, ...nowhere], {
        limits: tryLimits,
        files,
      });
      return exitCode === 0 ? "works" : { refused: gpuRefusalOf(stderrTail) };
    } catch (error) {
      if (error instanceof AppError && error.code === "stalled") return { refused: "no-answer" };
      if (error instanceof AppError && error.code === "too-demanding") return { refused: "failed" };
      throw error;
    }
  };
  try {
    const generated = ["-f", "lavfi", "-i", picture, "-pix_fmt", "yuv420p"];
    await run(tools, "ffmpeg", [...quiet, ...generated, "-c:v", "libx264", file], {
      limits: tryLimits,
      files: { write: [folder] },
    });
    const decode = [...cudaDecoding, "-i", inputUrl(file), "-vf", "hwdownload,format=nv12"];
    const scale = "format=nv12,hwupload_cuda,scale_cuda=128:72:format=yuv420p,hwdownload,format=yuv420p";
    return {
      nvdec: await attempt(parts.cuda, decode),
      scaleCuda: await attempt(parts.scaleCuda, ["-f", "lavfi", "-i", picture, "-vf", scale]),
      nvenc: await attempt(parts.h264Nvenc, [...generated, "-c:v", "h264_nvenc"]),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The lines of libavcodec/nvenc.c, libavutil/hwcontext_cuda.c and CUDA's own names; the first that fits. */
const lines: readonly (readonly [RegExp, GpuRefusal])[] = [
  [/Cannot load libcuda|Cannot load nvcuda/, "no-driver"],
  [/Cannot load (?:lib)?(?:nvidia-encode|nvEncodeAPI|nvcuvid)/, "driver-incomplete"],
  [
    /does not support the required nvenc API version|minimum required Nvidia driver|CUDA_ERROR_(?:SYSTEM_DRIVER_MISMATCH|INSUFFICIENT_DRIVER)/,
    "driver-too-old",
  ],
  [/CUDA_ERROR_(?:NO_DEVICE|UNKNOWN|INVALID_DEVICE)/, "no-device"],
  [/out of memory|CUDA_ERROR_OUT_OF_MEMORY|incompatible client key/, "in-use"],
  [
    /unsupported device|No capable devices found|does not support|CUDA_ERROR_NOT_SUPPORTED/,
    "not-on-this-card",
  ],
];

/** The stable word for what FFmpeg's log says. */
export const gpuRefusalOf = (stderr: string): GpuRefusal =>
  lines.find(([line]) => line.test(stderr))?.[1] ?? "failed";
