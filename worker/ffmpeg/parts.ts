import { run } from "./run.ts";
import type { MediaTools } from "./tools.ts";

/** What this build of FFmpeg has of all that we use somewhere. Whether it works is another question: see gpu.ts. */
export interface FfmpegParts {
  /** As it calls itself, e.g. `5.1.9-0+deb12u1`. */
  readonly version: string;
  readonly libx264: boolean;
  /** HDR needs both. */
  readonly zscale: boolean;
  readonly tonemap: boolean;
  /** Decoding by NVIDIA's cards. */
  readonly cuda: boolean;
  readonly scaleCuda: boolean;
  readonly h264Nvenc: boolean;
}

/** Asks FFmpeg. @throws AppError `worker-failed` when it can't be started. */
export async function listParts(tools: MediaTools): Promise<FfmpegParts> {
  const [about, encoders, filters, hwaccels] = await Promise.all(
    ["-version", "-encoders", "-filters", "-hwaccels"].map((question) => ask(tools, question)),
  );
  // A name stands after its flags, where there are any.
  const has = (answer: string | undefined, name: string) =>
    new RegExp(`^(?: *\\S+ )?${name}(?:\\s|$)`, "m").test(answer!);
  return {
    version: /^ffmpeg version (\S+)/.exec(about!)?.[1] ?? "unknown",
    libx264: has(encoders, "libx264"),
    zscale: has(filters, "zscale"),
    tonemap: has(filters, "tonemap"),
    cuda: has(hwaccels, "cuda"),
    scaleCuda: has(filters, "scale_cuda"),
    h264Nvenc: has(encoders, "h264_nvenc"),
  };
}

async function ask(tools: MediaTools, question: string): Promise<string> {
  let answer = "";
  await run(tools, "ffmpeg", ["-hide_banner", question], {
    onStdout: (chunk) => {
      answer += chunk;
    },
  });
  return answer;
}
