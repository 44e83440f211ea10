import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ffmpeg, transcodeInto } from "../media.ts";
import { judgeLeftovers, judgeOutput, judgeRefusal } from "./judge.ts";
import { mutate } from "./mutate.ts";
import { randomOf } from "./random.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reelkeep-judge-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each([
  ["what isn't ours", new Error("x"), /^threw/],
  ["a fault of the file that is told as ours", new AppError("encoder-failed"), /^blames us/],
  ["FFmpeg's words", new AppError("unreadable-file", { message: "moov atom not found" }), /^says/],
  ["a path", new AppError("unreadable-file", { details: { at: "/tmp/x" } }), /^has details/],
])("M1 the fuzz run objects to a refusal with %s", (_, error, fault) => {
  expect(judgeRefusal(error)).toMatch(fault);
});

it("M1 the fuzz run accepts a refusal in our own words", () => {
  expect(judgeRefusal(new AppError("unreadable-file"))).toBeNull();
  expect(judgeRefusal(new AppError("video-too-big", { details: { width: 9, height: 9 } }))).toBeNull();
});

it("M7 the fuzz run objects to an output with a damaged, an empty or a missing segment", async () => {
  const path = join(folder, "film.mp4");
  const inputs = [
    "-f",
    "lavfi",
    "-i",
    "testsrc2=size=96x64:rate=12:duration=1",
    "-f",
    "lavfi",
    "-i",
    "sine=d=1",
  ];
  await ffmpeg(...inputs, "-c:v", "libx264", "-pix_fmt", "yuv420p", path);
  await transcodeInto(folder, path);
  const out = join(folder, "out");
  expect(await judgeOutput(out)).toBeNull();
  const segment = join(out, "240p", "segment_00001.ts");
  await writeFile(segment, Buffer.alloc(188 * 8, 0x47));
  expect(await judgeOutput(out)).toMatch(/doesn't decode/);
  await writeFile(segment, "");
  expect(await judgeOutput(out)).toMatch(/isn't there/);
  await rm(segment);
  expect(await judgeOutput(out)).toMatch(/isn't there/);
});

it("M9 the fuzz run objects to what is left in scratch", async () => {
  const scratch = join(folder, "scratch");
  await mkdir(join(scratch, "reelkeep-1-x"), { recursive: true });
  expect(await judgeLeftovers(join(folder, "case"), scratch)).toMatch(/left in scratch/);
  await rm(join(scratch, "reelkeep-1-x"), { recursive: true });
  expect(await judgeLeftovers(join(folder, "case"), scratch)).toBeNull();
});

it("M1 the same seed damages the same file in the same way", () => {
  const [source, other] = [Buffer.alloc(5000, "source"), Buffer.alloc(3000, "other")];
  const damaged = (seed: number) => mutate(randomOf(seed), source, other);
  const seeds = Array.from({ length: 200 }, (_, seed) => seed);
  expect(seeds.map(damaged)).toEqual(seeds.map(damaged));
  expect(new Set(seeds.map((seed) => damaged(seed).bytes.toString("latin1"))).size).toBeGreaterThan(150);
});
