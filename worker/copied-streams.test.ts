/** Streams that need no encoding are taken over; in doubt they are encoded. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EncodingProfile, hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planEncode } from "./stages/plan.ts";
import { planCopies } from "./stages/plan-copy.ts";
import { probeSource } from "./stages/probe.ts";
import { ffmpeg, inspectTrack, packetTimes, testTools, transcodeInto } from "./testing/media.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-copied-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const bt709 = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"];
const plain = {
  size: "426x240",
  rate: "30000/1001",
  seconds: 24,
  video: [
    "-c:v",
    "libx264",
    "-preset",
    "superfast",
    "-pix_fmt",
    "yuv420p",
    "-maxrate",
    "300k",
    "-bufsize",
    "300k",
  ],
  /** A keyframe every 4 s, and groups that stand alone. */
  groups: ["-g", "120", "-keyint_min", "120", "-sc_threshold", "0"],
  colors: bt709,
  audio: ["-c:a", "aac", "-ac", "2", "-ar", "48000", "-b:a", "96k"],
  name: "film.mp4",
  more: [] as string[],
};

async function makeFilm(changes: Partial<typeof plain> = {}): Promise<string> {
  const { size, rate, seconds, video, groups, colors, audio, name, more } = { ...plain, ...changes };
  const path = join(await mkdtemp(join(root, "film-")), name);
  await ffmpeg(
    ...["-f", "lavfi", "-i", `mandelbrot=size=${size}:rate=${rate}:maxiter=60`],
    ...["-f", "lavfi", "-i", `sine=frequency=300:sample_rate=48000:duration=${seconds}`],
    ...["-t", String(seconds), ...video, ...groups, ...colors, ...audio, ...more, path],
  );
  return path;
}

async function planOf(path: string, profile: EncodingProfile = hlsTsV1) {
  const probe = await probeSource(testTools, path, profile);
  return planCopies(testTools, path, probe, planEncode(probe, profile), profile);
}

describe("a film that is what would be made of it", () => {
  it("M5 keeps its picture and its sound bit by bit, cut at its own keyframes", async () => {
    const film = await makeFilm();
    const folder = join(root, "kept");
    const result = await transcodeInto(folder, film);
    expect(result.renditions.map(({ name, isCopied }) => [name, isCopied])).toEqual([["240p", true]]);
    expect(result.plan.sounds.map(({ isCopied }) => isCopied)).toEqual([true]);
    const track = await inspectTrack(join(folder, "out"), "240p");
    const hash = (path: string, stream: string) =>
      ffmpeg("-i", path, "-map", `0:${stream}`, "-f", "framehash", "-hash", "md5", "-").then((text) =>
        [...text.matchAll(/, ([0-9a-f]{32})$/gm)].map(([, md5]) => md5),
      );
    expect(await hash(track.joinedPath, "v")).toEqual(await hash(film, "v"));
    const sound = await inspectTrack(join(folder, "out"), "audio");
    expect((await hash(sound.joinedPath, "a")).slice(-1000)).toEqual((await hash(film, "a")).slice(-1000));
    expect(Math.max(...track.extinf)).toBeLessThanOrEqual(10);
    expect(track.totalSeconds).toBeCloseTo(24.024, 1);
  });

  it("M5 shares its keyframes with the renditions that are encoded, in one run and in windows", async () => {
    const rungs = [{ ...hlsTsV1.rungs[0], shortSidePx: 120, name: "120p" }, hlsTsV1.rungs[0]] as const;
    const film = await makeFilm();
    for (const windows of [hlsTsV1.windows, { aboveSeconds: 10, seconds: 10 }]) {
      const folder = join(root, `shared-${windows.seconds}`);
      const result = await transcodeInto(folder, film, { profile: { ...hlsTsV1, rungs, windows } });
      expect(result.plan.windows.length).toBe(windows.seconds === 10 ? 4 : 1);
      expect(result.renditions.map(({ isCopied }) => isCopied)).toEqual([true, false]);
      const [kept, made] = await Promise.all(
        ["240p", "120p"].map((name) => inspectTrack(join(folder, "out"), name)),
      );
      expect(made!.extinf).toEqual(kept!.extinf);
      expect(await packetTimes(made!.joinedPath)).toEqual(await packetTimes(kept!.joinedPath));
    }
  });
});

describe("a film that isn't quite", () => {
  const doubts: Record<string, Partial<typeof plain>> = {
    "in groups that lean on the ones before": {
      video: [...plain.video, "-x264-params", "open-gop=1:bframes=3:b-adapt=0"],
    },
    "in groups longer than a segment may be": { groups: ["-g", "360", "-sc_threshold", "0"] },
    "above the rendition's rate": {
      video: ["-c:v", "libx264", "-preset", "superfast", "-pix_fmt", "yuv420p", "-b:v", "1500k"],
    },
    "in 4:4:4": { video: ["-c:v", "libx264", "-preset", "superfast", "-pix_fmt", "yuv444p", "-crf", "35"] },
    interlaced: { video: [...plain.video, "-flags", "+ilme+ildct"] },
    "in colours that it doesn't name": { colors: [] },
    "in full range": { colors: [...bt709, "-color_range", "pc"] },
    "in pixels that aren't square": { more: ["-aspect", "4:3"] },
    "larger than the ladder": { size: "854x480" },
    "in a container whose clock may jump": { name: "film.ts" },
  };
  const small: EncodingProfile = { ...hlsTsV1, rungs: [hlsTsV1.rungs[0]] };
  it.for(Object.keys(doubts))("M5 %s is encoded", async (doubt) => {
    const plan = await planOf(await makeFilm(doubts[doubt]!), small);
    expect(plan.copied).toBeNull();
  });

  it("M5 cut at the beginning by its container is encoded", async () => {
    const film = await makeFilm();
    const path = join(root, "edited.mp4");
    await ffmpeg("-ss", "1.5", "-i", film, "-c", "copy", path);
    expect((await planOf(path)).copied).toBeNull();
  });

  it("M5 with sound of another kind keeps its picture alone", async () => {
    for (const audio of [
      ["-c:a", "aac", "-ac", "1", "-ar", "48000"],
      ["-c:a", "aac", "-ac", "2", "-ar", "48000", "-b:a", "256k"],
      ["-c:a", "aac", "-ac", "2", "-ar", "32000"],
      ["-c:a", "libmp3lame", "-ac", "2"],
    ]) {
      const plan = await planOf(await makeFilm({ audio, seconds: 5 }));
      expect([plan.copied !== null, plan.sounds[0]?.isCopied]).toEqual([true, false]);
    }
  });

  it("M5 whose stream changes on the way is encoded after all, in the same attempt", async () => {
    const parts = [
      await makeFilm({ seconds: 8, name: "first.ts" }),
      await makeFilm({ seconds: 8, name: "second.ts", video: [...plain.video, "-profile:v", "main"] }),
    ];
    const joined = join(root, "joined.mp4");
    await ffmpeg("-i", `concat:${parts.join("|")}`, "-c", "copy", joined);
    const folder = join(root, "changed");
    const plans: boolean[] = [];
    const result = await transcodeInto(folder, joined, {
      onPlan: (plan) => {
        plans.push(plan.copied !== null);
      },
    });
    expect(plans).toEqual([true]);
    expect(result.renditions.map(({ isCopied }) => isCopied)).toEqual([false]);
    expect(result.durationSeconds).toBeCloseTo(16, 0);
  });
});
