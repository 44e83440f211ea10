import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseEngine } from "./ffmpeg/choose-engine.ts";
import { cpuEngine, nvencEngine } from "./ffmpeg/engines.ts";
import { ffmpeg, inspectTrack, testTools, transcodeInto } from "./testing/media.ts";
import type { TranscodeOptions } from "./transcode-file.ts";

/** Where there is no card, h264_nvenc really fails, and so does decoding by one. */
const hasCard = existsSync("/dev/nvidiactl");

let root: string;
let film: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-engine-"));
  film = join(root, "film.mp4");
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=9"];
  const sound = ["-f", "lavfi", "-i", "sine=duration=9"];
  await ffmpeg(...picture, ...sound, "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", film);
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Transcodes as on a machine whose card worked when it was asked. */
async function withCard(name: string, source: string, options: Partial<TranscodeOptions> = {}) {
  const told: string[] = [];
  const causes: unknown[] = [];
  const result = await transcodeInto(join(root, name), source, {
    engine: nvencEngine,
    onEngine: (processor, failure) => {
      told.push(processor);
      if (failure) causes.push(failure);
    },
    ...options,
  });
  return { result, told, causes, out: join(root, name, "out") };
}

describe.skipIf(hasCard)("a card that refuses in the middle of a job", () => {
  it("M6 is replaced by the processor in the same attempt, once, and the film is whole", async () => {
    const { result, told, causes, out } = await withCard("plain", film);
    expect(result.processor).toBe("ffmpeg-cpu");
    expect(told).toEqual(["ffmpeg-nvenc", "ffmpeg-cpu"]);
    expect(causes).toEqual([expect.objectContaining({ code: "encoder-failed" })]);
    expect(String((causes[0] as AppError).cause)).toMatch(/CUDA|cuda/);
    for (const { name } of result.renditions)
      expect((await inspectTrack(out, name)).totalSeconds).toBeCloseTo(9, 1);
  });

  it("M6 leaves nothing of its own among the segments", async () => {
    const { result, out } = await withCard("clean", film);
    const stored = (await readdir(out, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const listed = result.inventory.filter(({ name }) => name.endsWith(".ts"));
    expect(stored.length).toBe(listed.length);
  });

  it("M6 M7 a film in windows is made whole by the processor, each window once", async () => {
    const profile = { ...hlsTsV1, windows: { aboveSeconds: 5, seconds: 6 } };
    const { result, causes, out } = await withCard("windows", film, { profile, earlier: [] });
    expect(result.processor).toBe("ffmpeg-cpu");
    expect(causes.length).toBe(1);
    expect(result.plan.windows.length).toBe(2);
    expect((await inspectTrack(out, "360p")).totalSeconds).toBeCloseTo(9, 1);
  });

  it("M6 a file that the processor can't make anything of either fails as without a card", async () => {
    const broken = join(root, "broken.mp4");
    await ffmpeg("-i", film, "-c", "copy", "-bsf:v", "noise=amount=3", broken);
    const codeOf = (engine: typeof cpuEngine, name: string) =>
      transcodeInto(join(root, name), broken, { engine }).then(
        () => "none",
        (error: unknown) => (error instanceof AppError ? error.code : "unknown"),
      );
    expect(await codeOf(nvencEngine, "broken-card")).toBe(await codeOf(cpuEngine, "broken"));
  });

  it("M6 isn't chosen again on this machine: the next process finds that there is none", async () => {
    expect(await chooseEngine(testTools)).toEqual({ engine: cpuEngine, abilities: null });
  });
});

describe("the processor", () => {
  it("M6 is recorded as what made a film", async () => {
    const { processor } = await transcodeInto(join(root, "processor"), film);
    expect(processor).toBe("ffmpeg-cpu");
  });
});
