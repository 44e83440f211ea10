import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "hls-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clockStartSeconds } from "./ffmpeg/args.ts";
import type { EncodeProgress } from "./stages/encode-progress.ts";
import type { CompleteRendition } from "./stages/verify.ts";
import { ffmpeg, ffprobe, inspectTrack, packetTimes, transcodeInto } from "./testing/media.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-transcode-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A source of that name, and a folder of its own for the output. */
async function source(name: string, ...args: string[]) {
  const path = join(root, name);
  await ffmpeg(...args, path);
  return { path, folder: join(root, `${name}.d`), out: join(root, `${name}.d`, "out") };
}

const picture = (size: string, rate: string, seconds: number) => [
  ...["-f", "lavfi", "-i", `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`],
];
const tone = (seconds: number) => ["-f", "lavfi", "-i", `sine=duration=${seconds}:sample_rate=44100`];
const h264 = ["-c:v", "libx264", "-preset", "ultrafast"];

/** The first picture's red difference (V) left, right, at the top and at the bottom. */
async function rednessAtEdges(path: string): Promise<number[]> {
  const places = ["10:ih/2", "iw-20:ih/2", "iw/2:10", "iw/2:ih-20"];
  const levels = places.map(async (place) => {
    const crop = `crop=8:8:${place},signalstats,metadata=print:key=lavfi.signalstats.VAVG:file=-`;
    const text = await ffmpeg("-i", path, "-frames:v", "1", "-vf", crop, "-f", "null", "-");
    return Number(/VAVG=([\d.]+)/.exec(text)?.[1]);
  });
  return Promise.all(levels);
}

async function readMaster(out: string) {
  const master = parse(await readFile(join(out, "master.m3u8"), "utf8"));
  if (!master.isMasterPlaylist) throw new Error("not a multivariant playlist");
  return master;
}

describe("a plain video at 29.97 frames per second", () => {
  const progress: EncodeProgress[] = [];
  const complete: CompleteRendition[] = [];
  const storedWhileEncoding: number[] = [];
  let out: string;

  beforeAll(async () => {
    const video = await source(
      "plain.mp4",
      ...picture("640x360", "30000/1001", 14),
      ...tone(14),
      ...h264,
      ...["-c:a", "aac"],
    );
    out = video.out;
    await transcodeInto(video.folder, video.path, {
      onProgress: (state) => progress.push(state),
      onRenditionComplete: (rendition) => {
        complete.push(rendition);
      },
      onSegmentStored: () => storedWhileEncoding.push(progress.at(-1)?.secondsDone ?? 0),
    });
  });

  it("M3 the multivariant playlist tells the truth about what it lists", async () => {
    const master = await readMaster(out);
    expect(master.variants.map(({ uri, resolution }) => [uri, resolution])).toEqual([
      ["360p/playlist.m3u8", { width: 640, height: 360 }],
      ["240p/playlist.m3u8", { width: 426, height: 240 }],
    ]);
    for (const variant of master.variants) {
      const track = await inspectTrack(out, variant.uri.split("/")[0]!);
      const [stream] = track.streams;
      expect(stream).toMatchObject({ codec_name: "h264", pix_fmt: "yuv420p", color_space: "bt709" });
      expect(variant.codecs).toMatch(/^avc1\.4d40[0-9a-f]{2},mp4a\.40\.2$/);
      expect(Number.parseInt(variant.codecs!.slice(9, 11), 16)).toBe(stream?.level);
      expect(variant.frameRate).toBeCloseTo(29.97, 2);
      expect(variant.bandwidth).toBeGreaterThanOrEqual(variant.averageBandwidth!);
      expect(variant.audio[0]).toMatchObject({
        uri: "audio/playlist.m3u8",
        isDefault: true,
        autoselect: true,
      });
    }
  });

  it("M3 segments of six seconds begin with keyframes at the same times in every rendition", async () => {
    const tracks = await Promise.all(["360p", "240p"].map((name) => inspectTrack(out, name)));
    expect(tracks[0]!.extinf).toEqual([6.006, 6.006, expect.closeTo(2.002, 3)]);
    expect(tracks[1]!.extinf).toEqual(tracks[0]!.extinf);
    expect(await readdir(join(out, "360p"))).toEqual([
      "playlist.m3u8",
      "segment_00001.ts",
      "segment_00002.ts",
      "segment_00003.ts",
    ]);
    for (const name of ["360p", "240p"]) {
      const { packets } = await ffprobe(join(out, name, "segment_00002.ts"), "-show_packets");
      expect(packets?.[0]?.flags).toContain("K");
    }
  });

  it("M5 the sound is encoded once, beside the pictures", async () => {
    const sound = await inspectTrack(out, "audio");
    expect(sound.streams).toMatchObject([{ codec_name: "aac", channels: 2, sample_rate: "48000" }]);
    expect(sound.totalSeconds).toBeCloseTo(14, 0);
    const video = await inspectTrack(out, "240p");
    expect(video.streams).toHaveLength(1);
  });

  it("M5 segments are in storage before the encoder has ended", () => {
    expect(storedWhileEncoding[0]).toBeLessThan(13);
  });

  it("M7 each rendition and the sound are reported complete with their playlists", () => {
    expect(complete.map(({ name, playlist, segmentCount }) => [name, playlist, segmentCount])).toEqual([
      ["360p", "360p/playlist.m3u8", 3],
      ["240p", "240p/playlist.m3u8", 3],
      ["audio", "audio/playlist.m3u8", 3],
    ]);
  });

  it("U8 progress only grows, and ends at the whole", () => {
    const done = progress.map(({ secondsDone }) => secondsDone);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(done.at(-1)! / progress.at(-1)!.secondsTotal).toBeGreaterThan(0.98);
    for (const index of [0, 1, 2]) {
      const stored = progress.map(({ renditions }) => renditions[index]!.secondsDone);
      expect(stored).toEqual(stored.toSorted((a, b) => a - b));
    }
  });

  it("M9 nothing is left in the work folder", async () => {
    expect(await readdir(join(out, "..", "scratch"))).toEqual([]);
  });

  it("M11 there is a poster of a lit picture", async () => {
    const { streams } = await ffprobe(join(out, "poster-1.jpg"), "-show_streams");
    expect(streams).toMatchObject([{ codec_name: "mjpeg", width: 640, height: 360 }]);
  });
});

describe("odd sources", () => {
  it("M4 a video without sound has no audio group and plays from zero", async () => {
    const video = await source("silent.mp4", ...picture("320x240", "25", 2), ...h264);
    const result = await transcodeInto(video.folder, video.path);
    expect(result.hasAudio).toBe(false);
    const [variant] = (await readMaster(video.out)).variants;
    expect(variant?.audio).toEqual([]);
    expect(variant?.codecs).toMatch(/^avc1\.[0-9a-f]{6}$/);
    expect(await readdir(video.out)).not.toContain("audio");
    const [first] = await packetTimes((await inspectTrack(video.out, "240p")).joinedPath);
    expect(first).toBeCloseTo(clockStartSeconds, 3);
  });

  it.each([90, 180, 270])(
    "M2 a source to be turned by %i degrees is turned once, in the picture",
    async (degrees) => {
      // Red on the left of the coded picture.
      const plain = await source(
        `flat-${degrees}.mp4`,
        ...["-f", "lavfi", "-i", "color=blue:size=320x180:rate=10:duration=1"],
        ...["-vf", "drawbox=x=0:y=0:w=160:h=180:color=red:t=fill", ...h264, "-pix_fmt", "yuv420p"],
      );
      const turned = await source(
        `turned-${degrees}.mp4`,
        ...["-i", plain.path, "-c", "copy", "-metadata:s:v:0", `rotate=${degrees}`],
      );
      const [top] = (await transcodeInto(turned.folder, turned.path)).renditions;
      expect([top!.width, top!.height]).toEqual(degrees === 180 ? [320, 180] : [180, 320]);
      const { joinedPath, streams } = await inspectTrack(turned.out, top!.name);
      expect(streams[0]).not.toHaveProperty("side_data_list");
      // FFmpeg turns the source by itself when it plays it.
      const [shown, stored] = [await rednessAtEdges(turned.path), await rednessAtEdges(joinedPath)];
      expect(Math.max(...shown) - Math.min(...shown)).toBeGreaterThan(100);
      for (const [index, redness] of stored.entries())
        expect(Math.abs(redness - shown[index]!)).toBeLessThan(25);
    },
  );

  it("M2 odd sides become even and nothing is enlarged", async () => {
    const video = await source("odd.webm", ...picture("321x213", "25", 1), "-c:v", "libvpx");
    const [top] = (await transcodeInto(video.folder, video.path)).renditions;
    expect([top!.width, top!.height]).toEqual([320, 212]);
  });

  it("M2 anamorphic video is stored in square pixels", async () => {
    const video = await source("wide.mp4", ...picture("360x288", "25", 1), "-vf", "setsar=2/1", ...h264);
    const [top] = (await transcodeInto(video.folder, video.path)).renditions;
    expect(top!.width / top!.height).toBeCloseTo(720 / 288, 1);
    const { streams } = await inspectTrack(video.out, top!.name);
    expect(streams[0]).toMatchObject({ sample_aspect_ratio: "1:1", width: top!.width });
  });

  it("M4 with a varying frame rate every frame keeps its time, and EXTINF is what is there", async () => {
    const video = await source(
      "varying.mp4",
      ...picture("320x180", "60", 9),
      ...["-vf", "select='lt(mod(t,2),0.5)+not(mod(n,13))'", "-fps_mode", "passthrough"],
      ...["-enc_time_base", "1/90000", ...h264],
    );
    await transcodeInto(video.folder, video.path);
    const before = await packetTimes(video.path);
    const track = await inspectTrack(video.out, "240p");
    const after = await packetTimes(track.joinedPath);
    expect(after).toHaveLength(before.length);
    const shift = after[0]! - before[0]!;
    for (const [index, time] of after.entries()) expect(time - shift).toBeCloseTo(before[index]!, 2);
    expect(track.totalSeconds).toBeGreaterThanOrEqual(after.at(-1)! - after[0]!);
    expect(track.totalSeconds).toBeCloseTo(after.at(-1)! - after[0]!, 0);
    expect(track.targetSeconds).toBeGreaterThanOrEqual(Math.round(Math.max(...track.extinf)));
  });

  it("M4 120 frames per second become 60", async () => {
    const video = await source("fast.mp4", ...picture("160x90", "120", 1), ...h264);
    const result = await transcodeInto(video.folder, video.path);
    expect(result.plan.frameRate).toBe(60);
    expect(await packetTimes((await inspectTrack(video.out, "240p")).joinedPath)).toHaveLength(60);
  });

  it("M3 half a second is one segment with a target duration of at least one", async () => {
    const video = await source(
      "short.mp4",
      ...picture("320x180", "30", 0.5),
      ...tone(0.5),
      ...h264,
      "-shortest",
    );
    await transcodeInto(video.folder, video.path);
    const track = await inspectTrack(video.out, "240p");
    expect(track.segmentCount).toBe(1);
    expect(track.targetSeconds).toBeGreaterThanOrEqual(1);
    expect(track.totalSeconds).toBeCloseTo(0.5, 1);
  });

  it("M4 six channels become two, and the centre is heard", async () => {
    const video = await source(
      "surround.mp4",
      ...picture("160x90", "25", 1),
      ...["-f", "lavfi", "-i", "aevalsrc=0|0|sin(880*PI*t)|0|0|0:c=5.1:d=1", ...h264, "-c:a", "aac"],
    );
    await transcodeInto(video.folder, video.path);
    const { joinedPath, streams } = await inspectTrack(video.out, "audio");
    expect(streams).toMatchObject([{ channels: 2 }]);
    const loudness = await ffmpeg("-v", "info", "-i", joinedPath, "-af", "volumedetect", "-f", "null", "-");
    expect(Number(/mean_volume: (-?[\d.]+)/.exec(loudness)?.[1])).toBeGreaterThan(-40);
  });

  // MP4 states each stream's length; the others one for all, or a rate of bytes.
  it.each(["mp4", "mkv", "avi", "flv", "ts"])(
    "M4 where the sound outlasts the picture in %s, the last picture stands to its end",
    async (container) => {
      const sources = [...picture("160x90", "25", 1), ...tone(3)];
      const video = await source(`tail.${container}`, ...sources, ...h264, "-c:a", "aac");
      await transcodeInto(video.folder, video.path);
      expect((await inspectTrack(video.out, "240p")).totalSeconds).toBeCloseTo(3, 1);
    },
  );
});

describe("picture and sound", () => {
  /** A white flash and a beep in every third second, both a tenth of a second long. */
  const flashes =
    "color=black:size=160x90:rate=30:duration=9,drawbox=c=white:t=fill:enable='lt(mod(t\\,3)-1\\,0.1)*gte(mod(t\\,3)\\,1)'";
  const beeps = "aevalsrc='sin(2*PI*1000*t)*gte(mod(t,3),1)*lt(mod(t,3),1.1)':d=9:s=48000";

  it.each([0, 0.25, -0.25])(
    "M4 stay together within 40 ms when the sound is %s s late in the file",
    async (late) => {
      const video = await source(
        `sync${late}.mkv`,
        ...["-f", "lavfi", "-i", flashes, "-itsoffset", String(late), "-f", "lavfi", "-i", beeps],
        ...[...h264, "-c:a", "aac"],
      );
      await transcodeInto(video.folder, video.path);
      const picture = await inspectTrack(video.out, "240p");
      const sound = await inspectTrack(video.out, "audio");
      const seen = await ffmpeg(
        ...["-copyts", "-i", picture.joinedPath, "-vf"],
        ...["signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-", "-f", "null", "-"],
      );
      const flashTimes = [...seen.matchAll(/pts_time:([\d.]+)\nlavfi.signalstats.YAVG=([\d.]+)/g)]
        .map(([, time, level]) => ({ time: Number(time), isLit: Number(level) > 128 }))
        .filter(({ isLit }, index, all) => isLit && !all[index - 1]?.isLit)
        .map(({ time }) => time);
      const heard = await ffmpeg(
        ...["-v", "info", "-copyts", "-i", sound.joinedPath, "-af", "silencedetect=noise=-30dB:d=0.5"],
        ...["-f", "null", "-"],
      );
      const beepTimes = [...heard.matchAll(/silence_end: ([\d.]+)/g)].map(([, time]) => Number(time));
      expect(flashTimes).toHaveLength(3);
      expect(beepTimes.length).toBeGreaterThanOrEqual(3);
      for (const [index, flash] of flashTimes.entries())
        expect(Math.abs(beepTimes[index]! - flash - late)).toBeLessThan(0.04);
    },
  );
});
