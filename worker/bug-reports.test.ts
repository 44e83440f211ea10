/**
 * What broke in other projects that do this job, and what cameras, phones, recorders and editors really write, made
 * here by FFmpeg. The reports' addresses stand in the titles: owner/repository#number on GitHub.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ffmpeg, ffprobe, inspectTrack, levelOf, packetTimes, transcodeInto } from "./testing/media.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-reports-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const picture = (size = "320x180", rate = "25", seconds = 2) => [
  ...["-f", "lavfi", "-i", `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`],
];
const tone = (layout = "stereo", seconds = 2, rate = 48_000) => {
  const channels = { mono: 1, stereo: 2, "2.1": 3, "3.0": 3, quad: 4, "5.1": 6, "7.1": 8 }[layout]!;
  const source = `aevalsrc=${Array(channels).fill("0.2*sin(2*PI*440*t)").join("|")}:c=${layout}:s=${rate}:d=${seconds}`;
  return ["-f", "lavfi", "-i", source];
};
const h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"];

async function make(name: string, ...args: string[]) {
  const folder = await mkdtemp(join(root, "film-"));
  await ffmpeg(...args, join(folder, name));
  return { folder, path: join(folder, name), out: join(folder, "out") };
}

/** Transcodes and answers what came of it; the sound must be heard. */
async function heard({ folder, path, out }: Awaited<ReturnType<typeof make>>) {
  const result = await transcodeInto(folder, path);
  expect(result.hasAudio).toBe(true);
  const { streams, joinedPath } = await inspectTrack(out, "audio");
  expect(streams).toMatchObject([{ codec_name: "aac", profile: "LC", channels: 2 }]);
  expect(await levelOf(joinedPath)).toBeGreaterThan(-40);
  return result;
}

describe("sound", () => {
  it.for(["pcm_s16be", "pcm_s16le", "pcm_s24le", "pcm_f32le", "pcm_mulaw", "pcm_alaw", "alac"])(
    "M4 immich-app/immich#8603 %s in QuickTime is heard",
    async (codec) => {
      await heard(await make("camera.mov", ...picture(), ...tone(), ...h264, "-c:a", codec));
    },
  );

  it.for(["mono", "2.1", "3.0", "quad", "5.1", "7.1"])(
    "M4 video-dev/hls.js#5481 a layout of %s becomes stereo that browsers play",
    async (layout) => {
      await heard(await make("layout.mkv", ...picture(), ...tone(layout), ...h264, "-c:a", "pcm_s16le"));
    },
  );

  it.for(["libmp3lame", "libopus", "libvorbis", "flac", "ac3", "eac3", "mp2", "wmav2"])(
    "M4 sound of %s is heard",
    async (codec) => {
      await heard(await make("film.mkv", ...picture(), ...tone(), ...h264, "-c:a", codec));
    },
  );

  it.for([8_000, 22_050, 96_000])("M4 sound of %i Hz is heard", async (rate) => {
    await heard(await make("rate.mkv", ...picture(), ...tone("mono", 2, rate), ...h264, "-c:a", "pcm_s16le"));
  });

  it("M4 chattocorp/chatto#1602 a last track that nobody knows doesn't take the others' sound", async () => {
    const maps = ["-map", "0", "-map", "1", "-map", "2"];
    const film = await make(
      "last.mkv",
      ...picture(),
      ...tone(),
      ...tone(),
      ...maps,
      ...h264,
      "-c:a:0",
      "aac",
      "-c:a:1",
      "pcm_s16le",
    );
    const bytes = await readFile(film.path);
    const at = bytes.indexOf("A_PCM/INT/LIT");
    bytes.write("A_XYZ/INT/LIT", at);
    await writeFile(film.path, bytes);
    const { plan } = await heard(film);
    expect(plan.sounds).toHaveLength(1);
  });

  it.for([0.244, -0.244])("M4 holepunchto/bare-media#75 sound that is %f s late stays so", async (late) => {
    // A click and a flash at the same moment of the source's own time line.
    const flash = "color=black:s=320x180:r=50:d=3,drawbox=c=white:t=fill:enable='between(t,1,1.1)'";
    const click = "aevalsrc='if(between(t,1,1.1),0.8*sin(2*PI*1000*t),0)':s=48000:d=3";
    const offset = late > 0 ? ["-itsoffset", "0"] : ["-itsoffset", String(-late)];
    const film = await make(
      "offset.mkv",
      ...[...offset, "-f", "lavfi", "-i", flash],
      ...["-itsoffset", String(Math.max(0, late)), "-f", "lavfi", "-i", click, ...h264, "-c:a", "pcm_s16le"],
    );
    await transcodeInto(film.folder, film.path);
    const seen = await firstLight((await inspectTrack(film.out, "240p")).joinedPath);
    const sounded = await firstSound((await inspectTrack(film.out, "audio")).joinedPath);
    expect(Math.abs(sounded - seen - late)).toBeLessThan(0.04);
  });
});

/** When a picture is first bright, in seconds of the file's own clock. */
async function firstLight(path: string): Promise<number> {
  const log = await ffmpeg(
    "-copyts",
    "-i",
    path,
    "-vf",
    "signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-",
    "-f",
    "null",
    "-",
  );
  const lit = [...log.matchAll(/pts_time:([\d.]+)\n.*YAVG=([\d.]+)/g)].find(
    ([, , light]) => Number(light) > 128,
  );
  return Number(lit?.[1]);
}

/** When there is first sound. */
async function firstSound(path: string): Promise<number> {
  const log = await ffmpeg(
    ...["-copyts", "-i", path, "-af"],
    ...[
      "asetnsamples=480,astats=metadata=1:reset=1,ametadata=print:key=lavfi.astats.Overall.RMS_level:file=-",
      "-f",
      "null",
      "-",
    ],
  );
  const loud = [...log.matchAll(/pts_time:([\d.]+)\n.*RMS_level=(-?[\d.]+)/g)].find(
    ([, , level]) => Number(level) > -30,
  );
  return Number(loud?.[1]);
}

describe("pictures", () => {
  const kinds: Record<string, readonly [name: string, size: string, codec: readonly string[]]> = {
    "a DV camera": [
      "dv.avi",
      "720x576",
      ["-pix_fmt", "yuv420p", "-c:v", "dvvideo", "-aspect", "16:9", "-ar", "48000", "-c:a", "pcm_s16le"],
    ],
    "a Motion JPEG camera": [
      "mjpeg.avi",
      "320x240",
      ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p", "-c:a", "pcm_u8", "-ar", "11025"],
    ],
    "a DVD recorder": ["dvd.mpg", "352x288", ["-c:v", "mpeg2video", "-c:a", "ac3", "-f", "vob"]],
    "a broadcast camera": [
      "mpeg2.mov",
      "320x180",
      ["-c:v", "mpeg2video", "-pix_fmt", "yuv422p", "-flags", "+ilme+ildct", "-c:a", "pcm_s24le"],
    ],
    "an editor's ProRes": [
      "prores.mov",
      "320x180",
      ["-c:v", "prores_ks", "-profile:v", "3", "-c:a", "pcm_s24le", "-timecode", "01:00:00:00"],
    ],
    "an editor's DNxHD": [
      "dnx.mov",
      "1920x1080",
      ["-c:v", "dnxhd", "-b:v", "120M", "-pix_fmt", "yuv422p", "-c:a", "pcm_s16le"],
    ],
    "a screen recorder in 4:4:4": [
      "screen.mkv",
      "321x181",
      ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "0", "-pix_fmt", "yuv444p", "-c:a", "flac"],
    ],
    "a phone in 10 bits": [
      "ten.mp4",
      "320x180",
      ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le", "-c:a", "aac"],
    ],
    "a scanner in RGB": ["rgb.mov", "320x180", ["-c:v", "png", "-pix_fmt", "rgb24", "-c:a", "aac"]],
    "an old web cam": ["flash.flv", "320x240", ["-c:v", "flv1", "-c:a", "libmp3lame", "-ar", "22050"]],
    "Windows Media": ["film.wmv", "320x240", ["-c:v", "wmv2", "-c:a", "wmav2"]],
    "a browser": ["film.webm", "320x180", ["-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus"]],
    "an Ogg file of old": ["film.ogv", "320x180", ["-c:v", "libtheora", "-c:a", "libvorbis"]],
    "an AVCHD camera": [
      "00001.mts",
      "320x180",
      [
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-flags",
        "+ilme+ildct",
        "-pix_fmt",
        "yuv420p",
        "-c:a",
        "ac3",
        "-f",
        "mpegts",
        "-mpegts_m2ts_mode",
        "1",
      ],
    ],
  };
  it.for(Object.entries(kinds))(
    "M4 video-dev/hls.js#6502 what %s writes becomes 8-bit 4:2:0",
    async ([, [name, size, codec]]) => {
      const film = await make(name, ...picture(size, "25", 1), ...tone("stereo", 1), ...codec);
      const { renditions, durationSeconds } = await heard(film);
      expect(durationSeconds).toBeGreaterThan(0.8);
      expect(durationSeconds).toBeLessThan(1.3);
      for (const { name: folder } of renditions) {
        const [stream] = (await inspectTrack(film.out, folder)).streams;
        expect(stream).toMatchObject({ codec_name: "h264", pix_fmt: "yuv420p", sample_aspect_ratio: "1:1" });
        expect(stream?.profile).toMatch(/^(Main|High)$/);
      }
    },
  );

  it.for(["1164x767", "3x5", "161x121", "1024x17", "17x1024"])(
    "M2 Chocobozzz/PeerTube#4155 %s becomes a picture of even sides",
    async (size) => {
      const film = await make(
        "odd.mkv",
        "-f",
        "lavfi",
        "-i",
        `color=teal:s=${size}:r=10:d=1`,
        "-c:v",
        "ffv1",
        "-pix_fmt",
        "yuv444p",
      );
      const { renditions } = await transcodeInto(film.folder, film.path);
      for (const { width, height } of renditions) expect([width % 2, height % 2]).toEqual([0, 0]);
    },
  );

  it("M2 jellyfin/jellyfin#16665 16:9 that MPEG-2 stores in 4:3 is shown as 16:9", async () => {
    const film = await make(
      "wide.mpg",
      ...picture("704x480", "30000/1001", 1),
      "-c:v",
      "mpeg2video",
      "-aspect",
      "16:9",
      "-f",
      "vob",
    );
    const { renditions } = await transcodeInto(film.folder, film.path);
    for (const { width, height } of renditions)
      expect(Math.abs(width / height / (16 / 9) - 1)).toBeLessThan(0.02);
  });

  it("M4 a stream whose size changes on the way goes on in the first one's", async () => {
    const parts = await Promise.all(
      ["320x180", "160x90"].map((size) =>
        make("part.ts", ...picture(size), ...tone(), ...h264, "-c:a", "aac"),
      ),
    );
    const film = await make(
      "joined.ts",
      "-i",
      `concat:${parts.map(({ path }) => path).join("|")}`,
      "-c",
      "copy",
    );
    const { renditions, durationSeconds } = await heard(film);
    expect(renditions[0]).toMatchObject({ width: 320, height: 180 });
    expect(durationSeconds).toBeGreaterThan(3.5);
  });

  it("M4 fonts, chapters and other things beside the film are passed over", async () => {
    const font = join(root, "font.ttf");
    await writeFile(font, "not a font");
    const film = await make(
      "things.mkv",
      ...[
        ...picture(),
        ...tone(),
        ...h264,
        "-c:a",
        "aac",
        "-attach",
        font,
        "-metadata:s:t",
        "mimetype=application/x-truetype-font",
      ],
    );
    expect((await ffprobe(film.path, "-show_streams")).streams).toHaveLength(3);
    await heard(film);
  });
});

describe("playlists", () => {
  it("M3 fliks-app/fliks#572 at 23.976 pictures a second nothing drifts over a minute", async () => {
    const film = await make(
      "film.mp4",
      ...picture("192x108", "24000/1001", 61),
      ...tone("mono", 61),
      ...h264,
      "-c:a",
      "aac",
    );
    const { durationSeconds } = await transcodeInto(film.folder, film.path);
    const track = await inspectTrack(film.out, "240p");
    const times = await packetTimes(track.joinedPath);
    const frame = 1001 / 24_000;
    expect(Math.abs(track.totalSeconds - (times.at(-1)! - times[0]! + frame))).toBeLessThan(frame);
    expect(Math.abs(durationSeconds - 61)).toBeLessThan(0.1);
    expect((await inspectTrack(film.out, "audio")).totalSeconds).toBeCloseTo(61, 0);
  });

  it("M3 livekit/egress#534 no segment is longer than the playlist says, where keyframes come late", async () => {
    const film = await make("slow.mp4", ...picture("320x180", "1/4", 40), ...h264);
    await transcodeInto(film.folder, film.path);
    const { extinf, targetSeconds } = await inspectTrack(film.out, "240p");
    expect(Math.max(...extinf)).toBeGreaterThan(6);
    expect(targetSeconds).toBeGreaterThanOrEqual(Math.round(Math.max(...extinf)));
  });

  it("D2 videojs/video.js#6758 every address in a playlist is relative and stays below its version", async () => {
    const film = await make("film.mp4", ...picture(), ...tone(), ...h264, "-c:a", "aac");
    await transcodeInto(film.folder, film.path);
    for (const name of ["master.m3u8", "240p/playlist.m3u8", "audio/playlist.m3u8"]) {
      const text = await readFile(join(film.out, name), "utf8");
      const addresses = [...text.matchAll(/^[^#\s].*$/gm), ...text.matchAll(/(?<=URI=")[^"]*/g)].map(
        ([found]) => found,
      );
      expect(addresses.length).toBeGreaterThan(0);
      for (const address of addresses) expect(address).toMatch(/^[\w-]+(\/[\w-]+)?\.(m3u8|ts)$/);
    }
  });
});
