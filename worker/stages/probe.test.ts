import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, describe, expect, it } from "vitest";
import { ffmpeg, testTools } from "../testing/media.ts";
import { probeSource } from "./probe.ts";

const folder = await mkdtemp(join(tmpdir(), "reelkeep-probe-stage-"));
afterAll(() => rm(folder, { recursive: true }));

const picture = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.4"];
const h264 = ["-c:v", "libx264", "-preset", "ultrafast"];

describe("the probe of a file that promises much", () => {
  it("M1 of twenty sound tracks sixteen are looked at, the default one among them", async () => {
    const path = join(folder, "tracks.mkv");
    const maps = Array.from({ length: 20 }, (_, track) => [
      ...["-map", "1:a", `-disposition:a:${track}`, track === 19 ? "default" : "0"],
    ]);
    const sound = ["-f", "lavfi", "-i", "sine=d=0.4"];
    await ffmpeg(...picture, ...sound, "-map", "0:v", ...maps.flat(), ...h264, "-c:a", "pcm_s16le", path);
    const { audio } = await probeSource(testTools, path, hlsTsV1);
    expect(audio).toHaveLength(16);
    expect(audio[0]).toMatchObject({ index: 20, isDefault: true });
  });

  it.each(["mkv", "mp4", "mpg"])(
    "M1 a sound or a picture that comes a day later makes a video of a day, which is too long (%s)",
    async (container) => {
      const codecs = ["-c:v", "mpeg2video", "-c:a", "mp2", "-fps_mode", "passthrough"];
      const late = ["-itsoffset", "80000", "-f", "lavfi", "-i", "sine=d=0.4"];
      const sound = join(folder, `late-sound.${container}`);
      await ffmpeg(...picture, ...late, ...codecs, sound);
      await expect(probeSource(testTools, sound, hlsTsV1)).rejects.toMatchObject({ code: "video-too-long" });
      const seen = join(folder, `late-picture.${container}`);
      await ffmpeg("-f", "lavfi", "-i", "sine=d=0.4", "-itsoffset", "80000", ...picture, ...codecs, seen);
      await expect(probeSource(testTools, seen, hlsTsV1)).rejects.toMatchObject({ code: "video-too-long" });
    },
  );

  it("M1 names that would fill the worker's memory end the job as unreadable-file", async () => {
    const tags = join(folder, "tags.txt");
    const path = join(folder, "tags.mkv");
    const long = "x".repeat(9 * 1024 * 1024);
    await writeFile(tags, `;FFMETADATA1\ntitle=${long}\ncomment=${long}\n`);
    await ffmpeg(...picture, "-i", tags, "-map_metadata", "1", ...h264, path);
    await expect(probeSource(testTools, path, hlsTsV1)).rejects.toEqual(
      expect.objectContaining({ code: "unreadable-file", retryable: false }),
    );
  });
});
