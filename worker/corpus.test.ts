/**
 * Real files from the field, with a verdict for each. The folder isn't part of the project: where it's absent the
 * whole file is skipped, and the generated sources of transcode-file.test.ts stand alone.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { type EncodingProfile, hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "./ffmpeg/run.ts";
import { inputSandbox, inputUrl } from "./ffmpeg/tools.ts";
import { probeSource } from "./stages/probe.ts";
import {
  countInterlacedPictures,
  inspectTrack,
  likenessOfFirstPictures,
  packetTimes,
  testTools,
  transcodeInto,
} from "./testing/media.ts";

interface Sample {
  readonly file: string;
  readonly kind: string;
  readonly expected: {
    readonly verdict: "transcode" | "reject" | "either";
    readonly displayed_width: number;
    readonly displayed_height: number;
    readonly displayed_aspect: number;
    readonly duration_min_s: number;
    readonly duration_max_s: number;
    readonly has_audio: boolean;
  };
}

const corpus = join(import.meta.dirname, "../../shared/corpus");
const manifestPath = join(corpus, "manifest.json");
const isHere = existsSync(manifestPath);
const samples: readonly Sample[] = isHere ? JSON.parse(readFileSync(manifestPath, "utf8")).files : [];

/** What we make of files that may go either way, and the reason of every refusal. */
const refusals: Readonly<Record<string, string>> = {
  "audio-only-mp3-cover-art": "not-a-video",
  "avi-with-embedded-hls-reads-etc-passwd": "no-video-track",
  "codec-vvc-unsupported": "unsupported-codec",
  "corrupt-bitstream-vp9": "undecodable-video",
  "dolbyvision-profile5": "unsupported-hdr",
  "encrypted-cenc": "encrypted-video",
  "header-only-claims-44min": "undecodable-video",
  "hls-playlist-local-file-read-renamed-mp4": "not-a-video",
  "moov-missing": "unreadable-file",
  "truncated-90pct-missing-sar2x1": "unreadable-file",
  "zero-byte": "empty-file",
  "zip-renamed-mp4": "not-a-video",
};
/** The lower rungs suffice to see that a source is understood; the ladder itself is tested in core. */
const lightProfile: EncodingProfile = { ...hlsTsV1, rungs: [hlsTsV1.rungs[0], ...hlsTsV1.rungs.slice(1, 3)] };
/** Six minutes at 1080p: only its probe is tested here. */
const tooLongForTests = "long-6min-1080p-817KB";

describe.skipIf(!isHere)("the corpus", () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "reelkeep-corpus-"));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it("M1 every verdict agrees with the manifest", () => {
    const must = (verdict: string) => samples.filter(({ expected }) => expected.verdict === verdict);
    expect(must("reject").filter(({ kind }) => !refusals[kind])).toEqual([]);
    expect(must("transcode").filter(({ kind }) => refusals[kind])).toEqual([]);
  });

  it.for(samples.filter(({ kind }) => refusals[kind]))(
    "M1 $kind is refused for good, with a reason",
    async ({ file, kind }, { annotate }) => {
      const error = await transcodeInto(join(root, kind), join(corpus, file)).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: refusals[kind], retryable: false });
      await annotate(`refused: ${(error as AppError).code}`);
    },
  );

  const wanted = samples.filter(({ kind }) => !refusals[kind] && kind !== tooLongForTests);
  it.for(wanted)(
    "M2 M4 $kind becomes the video that it is",
    async ({ file, kind, expected }, { annotate }) => {
      const folder = join(root, kind);
      const result = await transcodeInto(folder, join(corpus, file), { profile: lightProfile });
      expect(result.durationSeconds).toBeGreaterThanOrEqual(expected.duration_min_s);
      expect(result.durationSeconds).toBeLessThanOrEqual(expected.duration_max_s);
      expect(result.hasAudio).toBe(expected.has_audio);

      for (const { name, width, height } of result.renditions) {
        const track = await inspectTrack(join(folder, "out"), name);
        expect(track.streams).toHaveLength(1);
        expect(track.streams[0]).toMatchObject({
          ...{ codec_name: "h264", pix_fmt: "yuv420p", width, height, sample_aspect_ratio: "1:1" },
          ...{ color_range: "tv", color_space: "bt709", color_transfer: "bt709", color_primaries: "bt709" },
        });
        expect(track.streams[0]).not.toHaveProperty("side_data_list");
        expect([width % 2, height % 2]).toEqual([0, 0]);
        expect(width).toBeLessThanOrEqual(Math.max(2, expected.displayed_width));
        expect(height).toBeLessThanOrEqual(Math.max(2, expected.displayed_height));
        expect(Math.abs(width / height / expected.displayed_aspect - 1)).toBeLessThanOrEqual(0.02);
        expect(track.totalSeconds).toBeCloseTo(result.durationSeconds, 3);
        expect(track.extinf.every((seconds) => seconds > 0)).toBe(true);
        expect(track.targetSeconds).toBeGreaterThanOrEqual(Math.round(Math.max(...track.extinf)));
        expect(Number(track.streams[0]?.start_time)).toBeLessThan(0.5);
      }
      const top = await inspectTrack(join(folder, "out"), result.renditions[0]!.name);
      const times = await packetTimes(top.joinedPath);
      const gaps = times.slice(1).map((time, i) => time - times[i]!);
      expect(times.length / Math.max(result.durationSeconds, 1)).toBeLessThanOrEqual(62);
      expect(Math.min(1, ...gaps)).toBeGreaterThan(0);
      if (result.renditions[0]!.width >= 16) {
        const likeness = await likenessOfFirstPictures(top.joinedPath, join(corpus, file));
        // The plain decoder leaves combing in, so an interlaced picture is less like ours.
        expect(likeness).toBeGreaterThan(kind.startsWith("interlaced") ? 0.7 : 0.9);
      }
      const sizes = result.renditions.map(({ name, width, height }) => `${name} ${width}×${height}`);
      const sound = result.hasAudio ? "sound" : "no sound";
      await annotate(`${result.durationSeconds.toFixed(2)} s, ${sound}, ${sizes.join(", ")}`);
      if (result.hasAudio) {
        const sound = await inspectTrack(join(folder, "out"), "audio");
        expect(sound.streams).toMatchObject([{ codec_name: "aac", channels: 2 }]);
      }
      await rm(folder, { recursive: true });
    },
  );

  it.for(wanted.filter(({ kind }) => /interlaced|1080i/.test(kind)))(
    "M4 no picture of $kind shows combing",
    async ({ file, kind }) => {
      const folder = join(root, `combing-${kind}`);
      const { renditions } = await transcodeInto(folder, join(corpus, file), { profile: lightProfile });
      const top = await inspectTrack(join(folder, "out"), renditions[0]!.name);
      const { interlaced, progressive } = await countInterlacedPictures(top.joinedPath);
      expect(progressive).toBeGreaterThan(0);
      expect(interlaced / (interlaced + progressive)).toBeLessThan(0.05);
      await rm(folder, { recursive: true });
    },
  );

  it("M4 what changes at 7.155 s in a file of extremely varying rate changes then", async () => {
    const sample = samples.find(({ kind }) => kind.startsWith("vfr-extreme"))!;
    const folder = join(root, "late-change");
    await transcodeInto(folder, join(corpus, sample.file), { profile: lightProfile });
    const times = await packetTimes((await inspectTrack(join(folder, "out"), "240p")).joinedPath);
    expect(times.some((time) => Math.abs(time - times[0]! - 7.155) < 0.1)).toBe(true);
  });

  it("M4 sound and picture of a file without a frame rate end together", async () => {
    const sample = samples.find(({ kind }) => kind.startsWith("wmv"))!;
    const folder = join(root, "end");
    await transcodeInto(folder, join(corpus, sample.file), { profile: lightProfile });
    const end = async (name: string) => (await inspectTrack(join(folder, "out"), name)).probedSeconds;
    expect(Math.abs((await end("240p")) - (await end("audio")))).toBeLessThan(0.2);
  });

  it("M4 a picture that begins 83 ms after the sound still does", async () => {
    const sample = samples.find(({ kind }) => kind.startsWith("rot90-5.1aac"))!;
    const folder = join(root, "late");
    await transcodeInto(folder, join(corpus, sample.file));
    const start = async (name: string) =>
      Number((await inspectTrack(join(folder, "out"), name)).streams[0]?.start_time);
    const [late, rate] = [0.083, 48_000];
    // The encoder's first frame of sound is its own run-up.
    const soundStart = (await start("audio")) + 1024 / rate;
    expect(Math.abs((await start("240p")) - soundStart - late)).toBeLessThan(0.04);
  });

  it("M1 an AVI with a playlist in its subtitles opens no other file", async () => {
    const sample = samples.find(({ kind }) => kind.startsWith("avi-with-embedded-hls"))!;
    const args = ["-v", "debug", ...inputSandbox, "-show_packets", inputUrl(join(corpus, sample.file))];
    const { stderrTail } = await run(testTools, "ffprobe", args, { files: { read: [corpus] } });
    const opened = [...stderrTail.matchAll(/Opening '([^']*)'/g)].map(([, name]) => name);
    expect(opened.filter((name) => name !== inputUrl(join(corpus, sample.file)))).toEqual([]);
  });

  it("M1 a long video is known to be long", async () => {
    const sample = samples.find(({ kind }) => kind === tooLongForTests)!;
    const probe = await probeSource(testTools, join(corpus, sample.file), hlsTsV1);
    expect(probe.durationSeconds).toBeCloseTo(362.77, 1);
    await expect(
      probeSource(testTools, join(corpus, sample.file), { limits: { durationSecondsMax: 300 } }),
    ).rejects.toMatchObject({ code: "video-too-long" });
  });
});
