/** M2, M4: sizes, rotation, fields, times and containers of every kind of source. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clockStartSeconds } from "./ffmpeg/args.ts";
import { probeSource } from "./stages/probe.ts";
import { fieldDifferences, pictureLevels } from "./testing/measure.ts";
import { ffmpeg, packetTimes, testTools } from "./testing/media.ts";
import { h264, openSources, testPicture, testTone } from "./testing/sources.ts";

let sources: Awaited<ReturnType<typeof openSources>>;
beforeAll(async () => {
  sources = await openSources("shapes");
});
afterAll(() => sources.remove());

describe("sizes", () => {
  it.each([
    ["1x1", [2, 2]],
    ["1x99", [2, 98]],
    ["3x5", [2, 4]],
    ["17x31", [16, 30]],
    ["161x121", [160, 120]],
    ["4096x64", [640, 10]],
    ["64x2161", null],
    ["501x375", null],
    ["2161x33", null],
  ])("M2 Chocobozzz/PeerTube#4155 %s ends in even sides", async (size, expected) => {
    const path = await sources.make(
      `${size}.mkv`,
      ...testPicture("640x480", "10"),
      "-vf",
      `scale=${size.replace("x", ":")},setsar=1`,
      "-c:v",
      "ffv1",
      "-pix_fmt",
      "gbrp",
    );
    const { picture } = await sources.transcode(path);
    const { width, height } = picture.streams[0]! as { width: number; height: number };
    expect([width % 2, height % 2]).toEqual([0, 0]);
    if (expected) expect([width, height]).toEqual(expected);
  });
});

/** Where in the first picture it's bright: left, right, top, bottom. */
async function brightness(path: string) {
  const regions = {
    left: "iw/4:ih/4:8:ih*3/8",
    right: "iw/4:ih/4:iw*3/4-8:ih*3/8",
    top: "iw/4:ih/4:iw*3/8:8",
    bottom: "iw/4:ih/4:iw*3/8:ih*3/4-8",
  };
  const entries = Object.entries(regions).map(async ([name, region]) => {
    const [level] = await pictureLevels(path, region);
    return [name, level!.y > 128] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

describe("turned and mirrored", () => {
  /** Where (x, y) of the coded picture goes: x' = ax + cy, y' = bx + dy, in 16.16 as in `tkhd`. */
  const turns = [
    { name: "upright", a: 1, b: 0, c: 0, d: 1 },
    { name: "by 90°", a: 0, b: 1, c: -1, d: 0 },
    { name: "by 180°", a: -1, b: 0, c: 0, d: -1 },
    { name: "by 270°", a: 0, b: -1, c: 1, d: 0 },
    { name: "left and right exchanged, as selfie cameras do", a: -1, b: 0, c: 0, d: 1 },
    { name: "upside down in a mirror", a: 1, b: 0, c: 0, d: -1 },
    { name: "by 90° and mirrored", a: 0, b: 1, c: 1, d: 0 },
    { name: "by 270° and mirrored", a: 0, b: -1, c: -1, d: 0 },
  ];
  it.each(turns)(
    "M2 immich-app/immich#9252 a picture $name in the file is shown so",
    async ({ name, a, b, c, d }) => {
      // White on the left and at the top: no two of the eight positions look alike.
      const boxes =
        "drawbox=x=0:y=0:w=iw/3:h=ih:color=white:t=fill,drawbox=x=0:y=0:w=iw*2/3:h=ih/3:color=white:t=fill";
      const path = await sources.make(
        `${name.replaceAll(/\W/g, "-")}.mov`,
        ...["-f", "lavfi", "-i", `color=black:size=320x180:rate=10:duration=1,${boxes}`, ...h264],
      );
      const bytes = await readFile(path);
      // ISO/IEC 14496-12 §8.3.2, version 0: the matrix follows 40 bytes of fields.
      const matrix = bytes.indexOf("tkhd", 0, "latin1") + 4 + 40;
      [a, b, 0, c, d, 0].forEach((value, index) => {
        bytes.writeInt32BE(value * 0x10000, matrix + index * 4);
      });
      await writeFile(path, bytes);
      const { picture } = await sources.transcode(path);
      const { width, height, side_data_list } = picture.streams[0]! as {
        width: number;
        height: number;
        side_data_list?: unknown;
      };
      expect([width, height]).toEqual(a === 0 ? [180, 320] : [320, 180]);
      expect(side_data_list).toBeUndefined();
      const isLit = (x: number, y: number) => x < -1 / 3 || (y < -1 / 3 && x < 1 / 3);
      // The inverse of a turn is its transpose.
      const shown = (x: number, y: number) => isLit(a * x + b * y, c * x + d * y);
      expect(await brightness(picture.joinedPath)).toEqual({
        left: shown(-0.7, 0),
        right: shown(0.7, 0),
        top: shown(0, -0.7),
        bottom: shown(0, 0.7),
      });
    },
  );

  it("M2 M4 turned, anamorphic and interlaced together", async () => {
    const lying = await sources.make(
      "lying.mp4",
      ...stripes("352x288", "50", 1, "interlace,setsar=16/11"),
      ...[...h264, "-flags", "+ildct+ilme", "-top", "1"],
    );
    const path = await sources.make("upright.mp4", "-i", lying, "-c", "copy", "-metadata:s:v", "rotate=90");
    const { picture, plan } = await sources.transcode(path);
    expect(plan.video).toMatchObject({
      isInterlaced: true,
      rotation: 270,
      displayed: { width: 288, height: 512 },
    });
    expect(picture.streams[0]).toMatchObject({ width: 288, height: 512, sample_aspect_ratio: "1:1" });
    // Turned, its lines are upright, and the stripes lie.
    const turnedBack = await sources.make(
      "back.mkv",
      "-i",
      picture.joinedPath,
      "-vf",
      "transpose=clock",
      "-c:v",
      "ffv1",
    );
    expect(Math.max(...(await fieldDifferences(turnedBack)))).toBeLessThan(cleanMax);
  });
});

/** Upright stripes that move to the right: what differs between lines is time alone. */
const stripes = (size: string, rate: string, seconds: number, filters: string) => [
  ...["-f", "lavfi", "-i"],
  `color=gray:size=352x16:rate=${rate}:duration=${seconds},geq=lum='128+90*sin(2*PI*(X-N*7)/40)':cb=128:cr=128,scale=${size.replace("x", ":")},setsar=1,${filters}`,
];
const combedMin = 10;
const cleanMax = 2;

describe("fields", () => {
  const interlacedArgs = (first: "tff" | "bff", size = "352x288", seconds = 2) => [
    ...stripes(size, "50", seconds, `interlace=scan=${first}`),
    ...["-flags", "+ildct+ilme", "-top", first === "tff" ? "1" : "0"],
  ];
  it.each([
    ["MPEG-2, top field first", "mts", interlacedArgs("tff"), ["-c:v", "mpeg2video", "-b:v", "4M"]],
    ["MPEG-2, bottom field first", "mpg", interlacedArgs("bff"), ["-c:v", "mpeg2video", "-b:v", "4M"]],
    [
      "MPEG-2 at 4:2:2",
      "ts",
      interlacedArgs("tff"),
      ["-c:v", "mpeg2video", "-b:v", "6M", "-pix_fmt", "yuv422p"],
    ],
    ["H.264 at 1080i", "mts", interlacedArgs("tff", "1920x1080", 1), h264],
    [
      "DV",
      "avi",
      [...interlacedArgs("bff", "720x576"), "-r", "25"],
      ["-c:v", "dvvideo", "-pix_fmt", "yuv420p"],
    ],
    [
      "DNxHD",
      "mov",
      interlacedArgs("tff", "1920x1080", 1),
      ["-c:v", "dnxhd", "-b:v", "120M", "-pix_fmt", "yuv422p", "-r", "25"],
    ],
    ["MPEG-4", "avi", interlacedArgs("tff"), ["-c:v", "mpeg4", "-q:v", "3"]],
  ])("M4 Chocobozzz/PeerTube#6447 %s shows no combing", async (name, container, input, encoder) => {
    const path = await sources.make(`${name.replaceAll(/\W/g, "-")}.${container}`, ...input, ...encoder);
    const { picture, durationSeconds } = await sources.transcode(path);
    expect(Math.max(...(await fieldDifferences(path)))).toBeGreaterThan(combedMin);
    expect(Math.max(...(await fieldDifferences(picture.joinedPath)))).toBeLessThan(cleanMax);
    expect(picture.extinf.length).toBe(1);
    expect((await packetTimes(picture.joinedPath)).length / durationSeconds).toBeCloseTo(25, 0);
  });

  it("M4 telecined film shows no combing", async () => {
    const path = await sources.make(
      "telecine.mpg",
      ...stripes("352x288", "24000/1001", 2, "telecine"),
      ...["-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-top", "1", "-b:v", "4M"],
    );
    const { picture } = await sources.transcode(path);
    expect(Math.max(...(await fieldDifferences(path)))).toBeGreaterThan(combedMin);
    expect(Math.max(...(await fieldDifferences(picture.joinedPath)))).toBeLessThan(cleanMax);
  });

  it("M4 of a programme that turns from progressive to interlaced, the first part is untouched and the second shows no combing", async () => {
    // Lines of one pixel: a deinterlacer would blur them.
    const lines =
      "color=black:size=352x288:rate=25:duration=2,geq=lum='if(mod(Y\\,2)\\,200\\,40)':cb=128:cr=128";
    const mpeg2 = ["-c:v", "mpeg2video", "-q:v", "2", "-pix_fmt", "yuv420p"];
    const first = await sources.make("first.ts", "-f", "lavfi", "-i", lines, ...mpeg2);
    const second = await sources.make(
      "second.ts",
      ...interlacedArgs("tff"),
      ...mpeg2,
      "-output_ts_offset",
      "2.04",
    );
    const path = join(sources.root, "mixed.ts");
    await writeFile(path, Buffer.concat([await readFile(first), await readFile(second)]));
    const { picture, plan } = await sources.transcode(path);
    expect(plan.video.isInterlaced).toBe(false);
    // Every other line of the first picture alone.
    const line = await ffmpeg(
      ...["-i", picture.joinedPath, "-frames:v", "1"],
      ...["-vf", "field=bottom,signalstats,metadata=print:file=-", "-f", "null", "-"],
    );
    expect(Number(/YAVG=([\d.]+)/.exec(line)?.[1])).toBeGreaterThan(170);
    const differences = await fieldDifferences(picture.joinedPath);
    expect(differences[0]).toBeGreaterThan(100);
    expect(Math.max(...differences.slice(55))).toBeLessThan(cleanMax);
  });
});

describe("times", () => {
  const keyed = (seconds: number) => [
    ...testPicture("160x90", "25", seconds),
    ...testTone(seconds),
    ...h264,
    "-g",
    "25",
    "-c:a",
    "aac",
  ];
  it("M4 an edit list that skips a start is obeyed", async () => {
    const whole = await sources.make("whole.mp4", ...keyed(4));
    const path = await sources.make("skip.mp4", "-ss", "1.5", "-i", whole, "-c", "copy");
    const { durationSeconds, picture, sound } = await sources.transcode(path);
    expect(durationSeconds).toBeCloseTo(2.5, 1);
    expect(Math.abs(picture.totalSeconds - sound!.totalSeconds)).toBeLessThan(0.15);
  });

  it.each([0.244, -0.244, 1.5])(
    "M4 holepunchto/bare-media#75 an empty first edit of %s s keeps picture and sound apart by it",
    async (late) => {
      const whole = await sources.make(`whole${late}.mp4`, ...keyed(3));
      const [picture, sound] = [Math.max(0, -late), Math.max(0, late)].map(String);
      const path = await sources.make(
        `offset${late}.mp4`,
        ...["-itsoffset", picture!, "-i", whole, "-itsoffset", sound!, "-i", whole],
        ...["-map", "0:v", "-map", "1:a", "-c", "copy"],
      );
      const made = await sources.transcode(path);
      const start = Number(made.picture.streams[0]!.start_time);
      const text = await ffmpeg(
        "-v",
        "info",
        "-copyts",
        "-i",
        made.sound!.joinedPath,
        "-af",
        "silencedetect=noise=-40dB:d=0.1",
        "-f",
        "null",
        "-",
      );
      const heard =
        late > 0
          ? Number(/silence_end: ([\d.]+)/.exec(text)?.[1] ?? made.sound!.streams[0]!.start_time)
          : Number(made.sound!.streams[0]!.start_time) + 1024 / 48_000;
      expect(Math.abs(heard - start - late)).toBeLessThan(0.04);
    },
  );

  it.each(["ts", "mkv", "mp4"])("M4 %s whose clock begins at an hour begins at zero", async (container) => {
    const path = await sources.make(`hour.${container}`, ...keyed(2), "-output_ts_offset", "3600");
    const { picture, sound, durationSeconds } = await sources.transcode(path);
    // MP4 says so by an empty edit, which every reader takes for the beginning.
    expect(durationSeconds).toBeCloseTo(2, 1);
    expect(Number(picture.streams[0]!.start_time)).toBeLessThan(clockStartSeconds + 0.2);
    expect(Number(sound!.streams[0]!.start_time)).toBeLessThan(clockStartSeconds + 0.2);
  });

  it("M4 Chocobozzz/PeerTube#4092 a WebM without a duration lasts as long as its frames", async () => {
    const path = await sources.make(
      "live.webm",
      ...testPicture("160x90", "25", 3),
      ...testTone(3),
      "-c:v",
      "libvpx",
      "-c:a",
      "libopus",
      "-f",
      "webm",
      "-live",
      "1",
    );
    const { durationSeconds, probe } = await sources.transcode(path);
    expect(probe.durationSeconds).toBeCloseTo(3, 0.7);
    expect(Math.abs(durationSeconds - 3)).toBeLessThan(0.2);
  });

  it.each([
    ["one frame", "0.04", ["-frames:v", "1"], 1],
    ["240 frames a second", "1", ["-r", "240"], 60],
    ["1000 frames a second", "1", ["-r", "1000"], 63],
    ["one frame a second", "3", ["-r", "1"], 3],
  ])("M4 %s", async (name, seconds, output, frames) => {
    const rate = output[0] === "-r" ? output[1]! : "25";
    const path = await sources.make(
      `${name.replaceAll(" ", "-")}.mp4`,
      ...testPicture("320x180", rate, Number(seconds)),
      ...h264,
      ...output,
    );
    const { picture, durationSeconds } = await sources.transcode(path);
    expect(Math.abs((await packetTimes(picture.joinedPath)).length - frames)).toBeLessThanOrEqual(1);
    expect(Math.abs(durationSeconds - Number(seconds))).toBeLessThan(0.05);
  });

  it("M4 of frames with one and the same time one stays", async () => {
    const path = await sources.make(
      "twins.mkv",
      // Matroska counts milliseconds, so these two fall together.
      ...[...testPicture("160x90", "25", 2), "-vf", "settb=1/90000,setpts='if(eq(N,20),19.001,N)*3600'"],
      ...["-fps_mode", "passthrough", "-enc_time_base", "1/90000", "-c:v", "mjpeg"],
    );
    const before = await packetTimes(path);
    expect(new Set(before).size).toBe(before.length - 1);
    const { picture } = await sources.transcode(path);
    const times = await packetTimes(picture.joinedPath);
    expect(new Set(times).size).toBe(times.length);
    expect(times).toHaveLength(49);
  });

  it("M3 fliks-app/fliks#572 at 23.976 frames a second EXTINF is what is there", async () => {
    const path = await sources.make("film.mp4", ...testPicture("160x90", "24000/1001", 20), ...h264);
    const { picture } = await sources.transcode(path);
    const times = await packetTimes(picture.joinedPath);
    expect(picture.extinf.length).toBe(4);
    expect(Math.abs(picture.totalSeconds - times.length * (1001 / 24_000))).toBeLessThan(0.001);
    for (const seconds of picture.extinf.slice(0, -1))
      expect(Math.abs(seconds - 6.006)).toBeLessThan(1001 / 24_000);
    expect(picture.targetSeconds).toBeGreaterThanOrEqual(Math.round(Math.max(...picture.extinf)));
  });
});

describe("what cameras, recorders and editors write", () => {
  it.each([
    [
      "3GP of an old phone",
      "3gp",
      ["-s", "176x144", "-r", "15", "-c:v", "h263", "-c:a", "aac", "-ar", "22050", "-ac", "1"],
    ],
    ["MJPEG of a compact camera", "avi", ["-c:v", "mjpeg", "-c:a", "pcm_u8", "-ar", "8000"]],
    [
      "DV at 4:1:1",
      "mov",
      ["-s", "720x480", "-r", "30000/1001", "-c:v", "dvvideo", "-pix_fmt", "yuv411p", "-c:a", "pcm_s16le"],
    ],
    [
      "DVD of 16:9",
      "vob",
      ["-s", "720x576", "-r", "25", "-aspect", "16:9", "-c:v", "mpeg2video", "-c:a", "ac3"],
    ],
    ["XviD", "avi", ["-c:v", "mpeg4", "-vtag", "xvid", "-bf", "2", "-c:a", "libmp3lame"]],
    ["Windows Media", "wmv", ["-c:v", "wmv2", "-c:a", "wmav2"]],
    ["Flash", "flv", ["-c:v", "flv", "-ar", "44100", "-c:a", "libmp3lame"]],
    ["Theora", "ogv", ["-c:v", "libtheora", "-c:a", "libvorbis"]],
    ["MPEG-1", "mpg", ["-c:v", "mpeg1video", "-c:a", "mp2"]],
    ["OBS", "mkv", [...h264, "-c:a", "aac", "-ar", "48000"]],
    ["a browser's recorder", "webm", ["-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus"]],
    ["ProRes 422 HQ", "mov", ["-c:v", "prores_ks", "-profile:v", "3", "-c:a", "pcm_s24le"]],
    ["CineForm", "mov", ["-c:v", "cfhd", "-c:a", "pcm_s16be"]],
    ["DNxHR", "mov", ["-c:v", "dnxhd", "-profile:v", "dnxhr_hq", "-pix_fmt", "yuv422p", "-c:a", "pcm_s16le"]],
    ["fragmented MP4", "mp4", [...h264, "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"]],
    [
      "HEVC",
      "mov",
      [
        "-c:v",
        "libx265",
        "-preset",
        "ultrafast",
        "-x265-params",
        "log-level=0",
        "-tag:v",
        "hvc1",
        "-c:a",
        "aac",
      ],
    ],
    ["AV1", "mp4", ["-c:v", "libaom-av1", "-cpu-used", "8", "-c:a", "aac"]],
    ["lossless screen capture", "avi", ["-c:v", "utvideo", "-pix_fmt", "gbrp", "-c:a", "pcm_s16le"]],
    ["uncompressed video", "mov", ["-c:v", "v210", "-c:a", "pcm_s16le"]],
    ["JPEG 2000", "mov", ["-c:v", "jpeg2000", "-c:a", "pcm_s16le"]],
  ])("M1 M4 %s becomes a video with sound", async (name, container, output) => {
    const path = await sources.make(
      `${name.replaceAll(/\W/g, "-")}.${container}`,
      ...testPicture("320x240", "25", 1),
      ...testTone(1),
      ...output,
    );
    const { picture, sound, durationSeconds } = await sources.transcode(path);
    expect(Math.abs(durationSeconds - 1)).toBeLessThan(0.15);
    const [level] = await pictureLevels(picture.joinedPath);
    expect(Math.abs(level!.y - 121.5)).toBeLessThan(4);
    expect(sound!.totalSeconds).toBeGreaterThan(0.9);
  });

  it("M4 jellyfin/jellyfin#16665 DVD of 16:9 is shown as 16:9", async () => {
    const path = await sources.make(
      "wide.vob",
      ...testPicture("720x576", "25"),
      "-aspect",
      "16:9",
      "-c:v",
      "mpeg2video",
    );
    const { picture } = await sources.transcode(path);
    const { width, height, sample_aspect_ratio } = picture.streams[0]! as {
      width: number;
      height: number;
      sample_aspect_ratio: string;
    };
    expect(Math.abs(width / height / (16 / 9) - 1)).toBeLessThan(0.02);
    expect(sample_aspect_ratio).toBe("1:1");
  });

  it("M1 a main picture of a codec that nobody knows is refused by name", async () => {
    const path = await sources.make("strange.mkv", ...testPicture(), ...testTone(), ...h264, "-c:a", "aac");
    const bytes = await readFile(path);
    bytes.write("V_WHAT/ISO/AVC", bytes.indexOf("V_MPEG4/ISO/AVC"), "latin1");
    await writeFile(path, bytes);
    await expect(probeSource(testTools, path, hlsTsV1)).rejects.toMatchObject({
      code: "unsupported-codec",
      retryable: false,
    });
  });
});

describe("Dolby Vision", () => {
  /** HEVC with the configuration box that phones write, of this profile and base layer. */
  async function dolbyVision(profile: number, compatibilityId: number): Promise<string> {
    const transfer = compatibilityId === 4 ? "arib-std-b67" : compatibilityId === 2 ? "bt709" : "smpte2084";
    const path = await sources.make(
      `dovi-${profile}-${compatibilityId}.mp4`,
      ...[
        "-f",
        "lavfi",
        "-i",
        "color=gray:size=320x180:rate=10:duration=1",
        "-c:v",
        "libx265",
        "-preset",
        "ultrafast",
      ],
      ...["-x265-params", "log-level=0", "-pix_fmt", "yuv420p10le", "-tag:v", "hvc1"],
      ...["-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc"],
    );
    const bytes = await readFile(path);
    // Dolby Vision streams within ISO files, §3.1: version, 7 bits of profile, 6 of level, three flags, the id.
    const box = Buffer.alloc(32);
    box.writeUInt32BE(box.length);
    box.write(profile > 7 ? "dvvC" : "dvcC", 4, "latin1");
    box.set([1, 0, profile << 1, (1 << 3) | 0b101, compatibilityId << 4], 8);
    const configuration = bytes.indexOf("hvcC", 0, "latin1") - 4;
    const end = configuration + bytes.readUInt32BE(configuration);
    // The index lies behind the media, so only the sizes of the boxes around it change.
    for (const name of ["moov", "trak", "mdia", "minf", "stbl", "stsd", "hvc1"]) {
      const at = bytes.indexOf(name, name === "hvc1" ? bytes.indexOf("stsd", 0, "latin1") : 0, "latin1") - 4;
      bytes.writeUInt32BE(bytes.readUInt32BE(at) + box.length, at);
    }
    await writeFile(path, Buffer.concat([bytes.subarray(0, end), box, bytes.subarray(end)]));
    return path;
  }

  it("M4 jellyfin/jellyfin#14002 profile 5 is refused by name", async () => {
    await expect(probeSource(testTools, await dolbyVision(5, 0), hlsTsV1)).rejects.toMatchObject({
      code: "unsupported-hdr",
      message: expect.stringContaining("profile 5"),
      retryable: false,
    });
  });

  it.each([
    [8, 1, "pq"],
    [8, 4, "hlg"],
    [8, 2, null],
    [7, 6, "pq"],
  ])(
    "M4 profile %i over a base layer of kind %i is shown by that layer, and grey stays grey",
    async (profile, id, hdr) => {
      const { probe, picture } = await sources.transcode(await dolbyVision(profile, id));
      expect(probe.video.hdr).toBe(hdr);
      const [level] = await pictureLevels(picture.joinedPath);
      expect(Math.max(Math.abs(level!.u - 128), Math.abs(level!.v - 128))).toBeLessThan(8);
    },
  );
});
