import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ffmpeg, transcodeInto } from "../testing/media.ts";
import { encoderFailure } from "./encoder-failure.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reelkeep-failure-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("M1 a video most of which can't be decoded is refused for good, not tried again", async () => {
  const path = join(folder, "x.mp4");
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=24:duration=4"];
  await ffmpeg(...picture, "-c:v", "libx264", "-g", "1", "-pix_fmt", "yuv420p", path);
  const film = await readFile(path);
  // The first pictures stay, so that it looks like a video.
  const from = film.indexOf("mdat") + Math.round(film.length * 0.2);
  await writeFile(path, film.fill(0xa5, from, film.indexOf("moov") - 4));
  await expect(transcodeInto(folder, path)).rejects.toMatchObject({
    code: "unreadable-file",
    retryable: false,
  });
});

it.each([
  [69, "", "unreadable-file"],
  [139, "", "unreadable-file"],
  [134, "", "unreadable-file"],
  [1, "Error reinitializing filters!", "unreadable-file"],
  [137, "", "encoder-failed"],
  [1, "", "encoder-failed"],
  [1, "av_interleaved_write_frame(): No space left on device", "disk-full"],
])("M1 an end with %i (%s) means %s", (exitCode, stderrTail, code) => {
  expect(encoderFailure({ exitCode, stderrTail })).toMatchObject({ code });
});
