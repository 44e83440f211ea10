/** Sources for tests, made in a folder of their own and brought through the whole way. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EncodingProfile, hlsTsV1 } from "@reelkeep/core/media/profile";
import { ffmpeg, inspectTrack, transcodeInto } from "./media.ts";

/** Two low rungs: enough to see that a source is understood. */
const lightProfile: EncodingProfile = { ...hlsTsV1, rungs: [hlsTsV1.rungs[0], ...hlsTsV1.rungs.slice(1, 2)] };

/** Inputs and encoders that most sources are made of. */
export const testPicture = (size = "320x180", rate = "25", seconds = 1): string[] => [
  ...["-f", "lavfi", "-i", `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`],
];
export const testTone = (seconds = 1, rate = 48_000): string[] => [
  ...["-f", "lavfi", "-i", `sine=frequency=440:duration=${seconds}:sample_rate=${rate}`],
];
export const h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"];

/** A folder for sources, and what becomes of them. `remove` deletes all of it. */
export async function openSources(name: string) {
  const root = await mkdtemp(join(tmpdir(), `reelkeep-${name}-`));
  let count = 0;
  return {
    root,
    remove: () => rm(root, { recursive: true, force: true }),
    /** FFmpeg's output as a file of that name. */
    async make(name: string, ...args: string[]): Promise<string> {
      const path = join(root, name);
      await ffmpeg(...args, path);
      return path;
    },
    /** A source as HLS: what was planned and made, the largest rendition, and the sound if there is any. */
    async transcode(path: string) {
      const folder = join(root, `out-${++count}`);
      const result = await transcodeInto(folder, path, { profile: lightProfile });
      const out = join(folder, "out");
      const picture = await inspectTrack(out, result.renditions[0]!.name);
      const sound = result.hasAudio ? await inspectTrack(out, "audio") : null;
      return { ...result, out, picture, sound };
    },
  };
}
