/** M4: what is heard of a source's sound, whatever its channels, samples and times. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clockStartSeconds } from "./ffmpeg/args.ts";
import { soundLevels } from "./testing/measure.ts";
import { ffmpeg } from "./testing/media.ts";
import { h264, openSources, testPicture, testTone } from "./testing/sources.ts";

let sources: Awaited<ReturnType<typeof openSources>>;
beforeAll(async () => {
  sources = await openSources("sound");
});
afterAll(() => sources.remove());

/** A sine whose peak is a quarter of full scale: -15 dB. */
const sine = "0.25*sin(880*PI*t)";
const sineDb = 20 * Math.log10(0.25 / Math.SQRT2);
/** Each channel's own expression, e.g. silence but for one. */
const channels = (expressions: readonly string[], layout: string, seconds = 1) => [
  ...[
    "-f",
    "lavfi",
    "-i",
    `aevalsrc='${expressions.join("|")}':channel_layout=${layout}:d=${seconds}:s=48000`,
  ],
];
const names: Readonly<Record<string, readonly string[]>> = {
  "2.1": ["FL", "FR", "LFE"],
  "3.0": ["FL", "FR", "FC"],
  quad: ["FL", "FR", "BL", "BR"],
  "5.0": ["FL", "FR", "FC", "BL", "BR"],
  "5.1": ["FL", "FR", "FC", "LFE", "BL", "BR"],
  "5.1(side)": ["FL", "FR", "FC", "LFE", "SL", "SR"],
  "7.1": ["FL", "FR", "FC", "LFE", "BL", "BR", "SL", "SR"],
};

/** Loudness left and right in the middle of the output, in dB of the source's channel. */
async function heard(path: string, referenceDb = sineDb): Promise<[number, number]> {
  const { sound } = await sources.transcode(path);
  const [left, right] = await soundLevels(sound!.joinedPath, 0.3, 0.8);
  return [left!.rmsDb - referenceDb, right!.rmsDb - referenceDb];
}

describe("channels", () => {
  it.each([
    ["mono", ["-c:a", "pcm_s16le"], "mov"],
    ["mono", ["-c:a", "aac"], "mp4"],
    ["stereo", ["-c:a", "pcm_s16le"], "mov"],
    ["stereo", ["-c:a", "flac"], "mkv"],
  ])("M4 %s keeps its level (%j)", async (layout, encoder, container) => {
    const count = layout === "mono" ? 1 : 2;
    const input = channels(
      Array.from({ length: count }, () => sine),
      layout,
    );
    const path = await sources.make(`level.${container}`, ...testPicture(), ...input, ...h264, ...encoder);
    for (const level of await heard(path)) expect(Math.abs(level)).toBeLessThan(0.3);
  });

  it("M4 what is left stays left", async () => {
    const path = await sources.make(
      "left.mkv",
      ...testPicture(),
      ...channels([sine, "0"], "stereo"),
      ...h264,
      "-c:a",
      "pcm_s16le",
    );
    const [left, right] = await heard(path);
    expect(Math.abs(left)).toBeLessThan(0.3);
    expect(right).toBeLessThan(-40);
  });

  const centres = Object.keys(names).filter((layout) => names[layout]!.includes("FC"));
  it.each(centres)("M4 the dialogue of %s is heard on both sides at -3 dB", async (layout) => {
    const only = names[layout]!.map((name) => (name === "FC" ? sine : "0"));
    const path = await sources.make(
      `centre-${layout}.mov`,
      ...testPicture(),
      ...channels(only, layout),
      ...h264,
      "-c:a",
      "pcm_s16le",
    );
    for (const level of await heard(path)) expect(level).toBeCloseTo(-3, 0);
  });

  it.each(Object.keys(names))(
    "M4 the fronts of %s keep their level, and the sides join them",
    async (layout) => {
      const fronts = names[layout]!.map((name) => (name === "FL" ? sine : "0"));
      const path = await sources.make(
        `front-${layout}.mov`,
        ...testPicture(),
        ...channels(fronts, layout),
        ...h264,
        "-c:a",
        "pcm_s16le",
      );
      const [left, right] = await heard(path);
      expect(Math.abs(left)).toBeLessThan(0.3);
      expect(right).toBeLessThan(-40);
      const side = names[layout]!.find((name) => name === "SR" || name === "BR");
      if (!side) return;
      const sides = names[layout]!.map((name) => (name === side ? sine : "0"));
      const other = await sources.make(
        `side-${layout}.mov`,
        ...testPicture(),
        ...channels(sides, layout),
        ...h264,
        "-c:a",
        "pcm_s16le",
      );
      const [, joined] = await heard(other);
      expect(joined).toBeCloseTo(-3, 0);
    },
  );

  it.each([
    ["AAC", "5.1", "mp4", ["-c:a", "aac", "-b:a", "384k"]],
    ["AC-3", "5.1(side)", "ts", ["-c:a", "ac3", "-b:a", "448k"]],
    ["E-AC-3", "5.1(side)", "mkv", ["-c:a", "eac3", "-b:a", "448k"]],
    ["Opus", "5.1", "webm", ["-c:a", "libopus"]],
    ["FLAC", "7.1", "mkv", ["-c:a", "flac"]],
    ["PCM without a layout", "5.1", "mkv", ["-c:a", "pcm_s24le"]],
  ])(
    "M4 video-dev/hls.js#5481 %s of %s becomes stereo AAC with its dialogue",
    async (name, layout, container, encoder) => {
      const only = names[layout]!.map((channel) => (channel === "FC" ? sine : "0"));
      const picture = container === "webm" ? ["-c:v", "libvpx"] : h264;
      const path = await sources.make(
        `${name}.${container}`,
        ...testPicture(),
        ...channels(only, layout),
        ...picture,
        ...encoder,
      );
      const { sound } = await sources.transcode(path);
      expect(sound!.streams).toMatchObject([
        { codec_name: "aac", profile: "LC", channels: 2, channel_layout: "stereo" },
      ]);
      for (const { rmsDb } of await soundLevels(sound!.joinedPath, 0.3, 0.8))
        expect(rmsDb - sineDb).toBeCloseTo(-3, -0.5);
    },
  );

  it.each(["5.1", "7.1"])("M4 all channels of %s at once, at full scale, don't clip", async (layout) => {
    const full = names[layout]!.map(() => "0.99*sin(880*PI*t)");
    const path = await sources.make(
      `full-${layout}.mov`,
      ...testPicture(),
      ...channels(full, layout),
      ...h264,
      "-c:a",
      "pcm_s16le",
    );
    const { sound } = await sources.transcode(path);
    for (const { peakDb } of await soundLevels(sound!.joinedPath, 0.2)) expect(peakDb).toBeLessThanOrEqual(0);
  });

  /** Each channel speaks in turn for a second. */
  it.each([3, 4, 6, 8, 9, 12, 16])("M4 of %i channels in no known order each is heard", async (count) => {
    const turns = Array.from({ length: count }, (_, index) => `${sine}*between(t\\,${index}\\,${index + 1})`);
    const raw = join(sources.root, "raw");
    const mono = turns.flatMap((turn) => ["-f", "lavfi", "-i", `aevalsrc='${turn}':d=${count}:s=48000`]);
    const inputs = turns.map((_, index) => `[${index}]`).join("");
    await ffmpeg(...mono, "-filter_complex", `${inputs}amerge=inputs=${count}`, "-f", "s16le", raw);
    const path = await sources.make(
      `unknown-${count}.mov`,
      ...testPicture("64x64", "5", count),
      ...["-f", "s16le", "-ar", "48000", "-ac", String(count), "-guess_layout_max", "0", "-i", raw],
      ...[...h264, "-c:a", "pcm_s16le"],
    );
    const { sound } = await sources.transcode(path);
    for (let turn = 0; turn < count; turn++) {
      const levels = await soundLevels(sound!.joinedPath, turn + 0.3, turn + 0.8);
      expect(Math.max(...levels.map(({ rmsDb }) => rmsDb - sineDb))).toBeGreaterThan(-8);
    }
  });
});

describe("codecs", () => {
  it.each([
    ["mov", "pcm_s16be"],
    ["mov", "pcm_s16le"],
    ["mov", "pcm_s24le"],
    ["mov", "pcm_s24be"],
    ["mov", "pcm_s32le"],
    ["mov", "pcm_f32le"],
    ["mov", "pcm_f64be"],
    ["mov", "pcm_mulaw"],
    ["mov", "pcm_alaw"],
    ["mov", "adpcm_ima_qt"],
    ["mov", "alac"],
    ["avi", "pcm_u8"],
    ["avi", "adpcm_ms"],
    ["avi", "libmp3lame"],
    ["mkv", "libvorbis"],
    ["mkv", "libopus"],
    ["mkv", "eac3"],
    ["ts", "mp2"],
    ["ts", "ac3"],
    ["wmv", "wmav2"],
    ["flv", "adpcm_swf"],
  ])("M4 immich-app/immich#8603 in %s, %s becomes AAC of the same loudness", async (container, codec) => {
    const rate = ["flv"].includes(container) ? ["-ar", "44100"] : [];
    const encoder = container === "flv" ? ["-c:v", "flv"] : container === "wmv" ? ["-c:v", "wmv2"] : h264;
    const path = await sources.make(
      `${codec}.${container}`,
      ...[...testPicture(), ...channels([sine, sine], "stereo"), ...encoder, "-c:a", codec, ...rate],
    );
    const { sound } = await sources.transcode(path);
    expect(sound!.streams).toMatchObject([{ codec_name: "aac", channels: 2, sample_rate: "48000" }]);
    for (const { rmsDb } of await soundLevels(sound!.joinedPath, 0.3, 0.8))
      expect(Math.abs(rmsDb - sineDb)).toBeLessThan(1);
  });

  it.each([8_000, 11_025, 22_050, 44_100, 96_000, 192_000])(
    "M4 %i samples a second become 48,000",
    async (rate) => {
      const path = await sources.make(
        `rate-${rate}.mov`,
        ...testPicture(),
        ...testTone(1, rate),
        ...h264,
        "-c:a",
        "pcm_s16le",
      );
      const { sound } = await sources.transcode(path);
      expect(sound!.streams).toMatchObject([{ sample_rate: "48000" }]);
      expect(sound!.totalSeconds).toBeCloseTo(1, 1);
      expect((await soundLevels(sound!.joinedPath, 0.3, 0.8))[0]!.rmsDb).toBeCloseTo(-21, 0);
    },
  );
});

describe("tracks that can't be heard", () => {
  it("M4 chattocorp/chatto#1602 a last track of no known codec doesn't take the sound away", async () => {
    const two = await sources.make(
      "two.mkv",
      ...[...testPicture(), ...testTone(), "-map", "0", "-map", "1", "-map", "1", ...h264],
      ...["-c:a:0", "aac", "-c:a:1", "ac3"],
    );
    const bytes = await readFile(two);
    bytes.write("A_XYZ", bytes.indexOf("A_AC3"), "latin1");
    await writeFile(two, bytes);
    const { sound } = await sources.transcode(two);
    expect((await soundLevels(sound!.joinedPath, 0.3, 0.8))[0]!.rmsDb).toBeGreaterThan(-30);
  });

  it("M4 a default track of rubbish gives way to one that can be heard", async () => {
    const path = await sources.make(
      "rubbish.mkv",
      ...[...testPicture(), ...testTone(), "-map", "0", "-map", "1", "-map", "1", ...h264],
      // Every byte of the first track is another.
      ...["-c:a:0", "flac", "-bsf:a:0", "noise=amount=1", "-c:a:1", "aac"],
      ...["-disposition:a:0", "default", "-disposition:a:1", "0"],
    );
    const { sound } = await sources.transcode(path);
    expect((await soundLevels(sound!.joinedPath, 0.3, 0.8))[0]!.rmsDb).toBeGreaterThan(-30);
  });

  it("M4 attachments, time codes and data beside picture and sound are ignored", async () => {
    const note = join(sources.root, "note.txt");
    await writeFile(note, "hello");
    const mkv = await sources.make(
      "attached.mkv",
      ...[...testPicture(), ...testTone(), ...h264, "-c:a", "aac"],
      ...["-attach", note, "-metadata:s:t", "mimetype=text/plain"],
    );
    const mov = await sources.make(
      "coded.mov",
      ...testPicture(),
      ...testTone(),
      ...h264,
      "-c:a",
      "aac",
      "-timecode",
      "01:00:00:00",
    );
    for (const path of [mkv, mov]) {
      const { sound, durationSeconds } = await sources.transcode(path);
      expect(durationSeconds).toBeCloseTo(1, 1);
      expect(sound).not.toBeNull();
    }
  });
});

describe("times", () => {
  it("M4 sound that ends early ends, and the picture goes on", async () => {
    const path = await sources.make(
      "early.mp4",
      ...testPicture("160x90", "25", 3),
      ...testTone(1),
      ...h264,
      "-c:a",
      "aac",
    );
    const { picture, sound } = await sources.transcode(path);
    expect(picture.totalSeconds).toBeCloseTo(3, 1);
    expect(sound!.totalSeconds).toBeCloseTo(1, 0);
  });

  it.each(["mkv", "ts", "mp4"])("M4 a gap in the sound of %s stays as long as it is", async (container) => {
    const path = await sources.make(
      `gap.${container}`,
      ...[...testPicture("160x90", "25", 4), ...testTone(4), "-af", "aselect='lt(t,1)+gte(t,3)'"],
      ...[...h264, "-c:a", container === "ts" ? "mp2" : "aac"],
    );
    const { sound } = await sources.transcode(path);
    expect(sound!.totalSeconds).toBeCloseTo(4, 0);
    expect((await soundLevels(sound!.joinedPath, 0.3, 0.8))[0]!.rmsDb).toBeGreaterThan(-25);
    expect((await soundLevels(sound!.joinedPath, 1.3, 2.7))[0]!.rmsDb).toBeLessThan(-50);
    expect((await soundLevels(sound!.joinedPath, 3.3, 3.8))[0]!.rmsDb).toBeGreaterThan(-25);
  });

  it("M4 sound that begins two seconds late has silence before it", async () => {
    const path = await sources.make(
      "late.mp4",
      ...[...testPicture("160x90", "25", 4), "-itsoffset", "2", ...testTone(2), ...h264, "-c:a", "aac"],
    );
    const { sound } = await sources.transcode(path);
    expect(Number(sound!.streams[0]!.start_time)).toBeLessThan(clockStartSeconds + 0.1);
    expect((await soundLevels(sound!.joinedPath, 0.2, 1.8))[0]!.rmsDb).toBeLessThan(-50);
    expect((await soundLevels(sound!.joinedPath, 2.3, 3.8))[0]!.rmsDb).toBeGreaterThan(-25);
  });

  /** Two programmes one after the other, as a broadcast is cut. */
  const joined = async (name: string, parts: readonly string[][]) => {
    const pieces: Buffer[] = [];
    for (const [index, part] of parts.entries())
      pieces.push(
        await readFile(
          await sources.make(`${name}-${index}.ts`, ...part, "-output_ts_offset", String(index * 2)),
        ),
      );
    const path = join(sources.root, `${name}.ts`);
    await writeFile(path, Buffer.concat(pieces));
    return path;
  };

  it("M4 sound that turns from 5.1 to stereo in mid-stream keeps its time", async () => {
    const loud = (layout: string) => channels(names[layout]?.map(() => sine) ?? [sine, sine], layout, 2);
    const path = await joined("surround", [
      [...testPicture("160x90", "25", 2), ...loud("5.1(side)"), ...h264, "-c:a", "ac3"],
      [...testPicture("160x90", "25", 2), ...loud("stereo"), ...h264, "-c:a", "ac3"],
    ]);
    const { sound, picture } = await sources.transcode(path);
    expect(Math.abs(sound!.totalSeconds - picture.totalSeconds)).toBeLessThan(0.15);
    for (const [from, to] of [
      [0.3, 1.7],
      [2.3, 3.7],
    ])
      expect((await soundLevels(sound!.joinedPath, from, to))[0]!.rmsDb).toBeGreaterThan(sineDb - 1);
  });

  it("M4 a picture that changes its size in mid-stream leaves the sound alone, and keeps its own time", async () => {
    const part = (size: string) => [...testPicture(size, "25", 2), ...testTone(2), ...h264, "-c:a", "aac"];
    const { sound, picture } = await sources.transcode(
      await joined("resized", [part("160x90"), part("320x180")]),
    );
    expect(picture.totalSeconds).toBeCloseTo(4, 0);
    expect(Math.abs(sound!.totalSeconds - picture.totalSeconds)).toBeLessThan(0.2);
    const silent = (size: string, format: string) => [
      ...[...testPicture(size, "25", 2), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", format],
    ];
    const alone = await sources.transcode(
      await joined("resized-silent", [silent("160x90", "yuv420p"), silent("320x180", "yuv422p10le")]),
    );
    expect(alone.picture.totalSeconds).toBeCloseTo(4, 0);
  });
});
