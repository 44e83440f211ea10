/** Everything beside the picture: sound tracks, subtitles, the storyboard, posters. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseWebvtt } from "@reelkeep/core/captions/webvtt";
import { parse, type types } from "hls-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ffmpeg, ffprobe, inspectTrack, meanColor, transcodeInto } from "./testing/media.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-tracks-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const seconds = 14;
const picture = (filter = `testsrc2=size=320x180:rate=25`) => [
  "-f",
  "lavfi",
  "-t",
  String(seconds),
  "-i",
  filter,
];
const tone = (hertz: number) => ["-f", "lavfi", "-t", String(seconds), "-i", `sine=frequency=${hertz}`];
const quick = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac"];

async function film(name: string, ...args: string[]) {
  const folder = await mkdtemp(join(root, "film-"));
  await ffmpeg(...args, join(folder, name));
  return { folder, path: join(folder, name), out: join(folder, "out") };
}

const master = async (out: string) =>
  parse(await readFile(join(out, "master.m3u8"), "utf8")) as types.MasterPlaylist;

/** Hertz of a sine, by its passages through zero. */
async function pitchOf(path: string): Promise<number> {
  const raw = join(root, "sound.pcm");
  await ffmpeg("-i", path, "-ss", "2", "-t", "4", "-ac", "1", "-ar", "48000", "-f", "s16le", raw);
  const samples = new Int16Array((await readFile(raw)).buffer.slice(0));
  let passages = 0;
  for (let i = 1; i < samples.length; i++) if (samples[i - 1]! < 0 && samples[i]! >= 0) passages++;
  return passages / (samples.length / 48_000);
}

describe("sound tracks", () => {
  it("M4 each becomes a rendition with its language's name, in a group that every picture plays with", async () => {
    const { folder, path, out } = await film(
      "languages.mkv",
      ...[...picture(), ...tone(300), ...tone(500), ...tone(700)],
      ...["-map", "0", "-map", "1", "-map", "2", "-map", "3", ...quick],
      ...["-metadata:s:a:0", "language=ger", "-metadata:s:a:1", "language=eng"],
      ...["-metadata:s:a:2", "language=eng", "-metadata:s:a:2", "title=Commentary"],
      ...["-disposition:a:0", "0", "-disposition:a:1", "default"],
    );
    const result = await transcodeInto(folder, path);
    expect(result.hasAudio).toBe(true);
    const { variants } = await master(out);
    for (const { audio, codecs } of variants) {
      expect(
        audio.map(({ name, language, uri, isDefault, autoselect }) => [
          name,
          language,
          uri,
          isDefault,
          autoselect,
        ]),
      ).toEqual([
        ["English", "en", "audio/playlist.m3u8", true, true],
        ["German", "de", "audio-2/playlist.m3u8", false, true],
        ["Commentary", "en", "audio-3/playlist.m3u8", false, true],
      ]);
      expect(codecs).toMatch(/^avc1\.[0-9a-f]{6},mp4a\.40\.2$/);
    }
    const pitches: number[] = [];
    const lengths: number[] = [];
    for (const name of ["audio", "audio-2", "audio-3"]) {
      const track = await inspectTrack(out, name);
      pitches.push(Math.round((await pitchOf(track.joinedPath)) / 10) * 10);
      lengths.push(track.totalSeconds);
    }
    expect(pitches).toEqual([500, 300, 700]);
    for (const length of lengths) expect(Math.abs(length - seconds)).toBeLessThan(0.1);
  });

  it("M3 all playlists of a version state one target duration", async () => {
    const { folder, path, out } = await film("keyframes.mp4", ...picture(), ...tone(300), ...quick);
    await transcodeInto(folder, path);
    const names = (await readdir(out, { recursive: true })).filter((name) => name.endsWith("/playlist.m3u8"));
    const targets = await Promise.all(
      names.map(async (name) => /TARGETDURATION:(\d+)/.exec(await readFile(join(out, name), "utf8"))?.[1]),
    );
    expect(targets.length).toBeGreaterThan(1);
    expect(new Set(targets).size).toBe(1);
  });
});

describe("subtitles", () => {
  const srt = `1
00:00:01,000 --> 00:00:03,500
Hello <i>there</i>

2
00:00:05,000 --> 00:00:08,000
Second line
over two

`;

  it("M4 text becomes WebVTT renditions, tied to the stream's clock, at its time", async () => {
    const text = join(root, "text.srt");
    await writeFile(text, srt);
    const { folder, path, out } = await film(
      "subtitles.mkv",
      ...[...picture(), ...tone(300), "-i", text, "-i", text],
      ...["-map", "0", "-map", "1", "-map", "2", "-map", "3", ...quick, "-c:s:0", "srt", "-c:s:1", "ass"],
      ...["-metadata:s:s:0", "language=fre", "-metadata:s:s:1", "language=spa", "-disposition:s:1", "forced"],
    );
    const result = await transcodeInto(folder, path);
    const { variants } = await master(out);
    expect(
      variants[0]!.subtitles.map(({ name, language, uri, isDefault, forced }) => [
        name,
        language,
        uri,
        isDefault,
        forced === true,
      ]),
    ).toEqual([
      ["French", "fr", "subtitles-1/playlist.m3u8", false, false],
      ["Spanish", "es", "subtitles-2/playlist.m3u8", false, true],
    ]);
    const { streams } = await ffprobe(path, "-show_entries", "stream=codec_type,start_time");
    expect(streams).toHaveLength(4);
    for (const name of ["subtitles-1", "subtitles-2"]) {
      const playlist = parse(await readFile(join(out, name, "playlist.m3u8"), "utf8"));
      if (playlist.isMasterPlaylist) throw new Error("not a media playlist");
      expect(playlist.segments.map(({ uri }) => uri)).toEqual([1, 2, 3].map((i) => `segment_0000${i}.vtt`));
      const length = playlist.segments.reduce((sum, { duration }) => sum + duration, 0);
      expect(length).toBeCloseTo(result.durationSeconds, 3);
      const files = await Promise.all(
        playlist.segments.map(({ uri }) => readFile(join(out, name, uri), "utf8")),
      );
      const head = files[0]!.split("\n")[1]!;
      const ticks = Number(/MPEGTS:(\d+),LOCAL:00:00:00\.000/.exec(head)?.[1]);
      const video = await inspectTrack(out, "240p");
      expect(ticks / 90_000).toBeCloseTo(Number(video.streams[0]!.start_time), 1);
      const cues = files.map((file) => parseWebvtt(file).map((cue) => cue.text.split("\n")[0]));
      expect(cues).toEqual([["Hello <i>there</i>", "Second line"], ["Second line"], []]);
      const [first] = parseWebvtt(files[0]!);
      expect(first!.startSeconds).toBeCloseTo(1, 1);
      expect(first!.endSeconds).toBeCloseTo(3.5, 1);
    }
  });

  it("M4 those that can't be read, or hold no words, are left out", async () => {
    const [empty, text] = [join(root, "empty.srt"), join(root, "some.srt")];
    await writeFile(empty, "1\n00:00:01,000 --> 00:00:02,000\n \n\n");
    await writeFile(text, srt);
    const { folder, path, out } = await film(
      "half.mkv",
      ...[...picture(), "-i", empty, "-i", text],
      ...["-map", "0", "-map", "1", "-map", "2", ...quick, "-c:s", "srt"],
    );
    await transcodeInto(folder, path);
    expect((await master(out)).variants[0]!.subtitles.map(({ uri }) => uri)).toEqual([
      "subtitles-2/playlist.m3u8",
    ]);
    expect(await readdir(out)).not.toContain("subtitles-1");
  });
});

describe("the storyboard", () => {
  it("M11 shows each moment's picture, and says where it lies", async () => {
    // A picture that is red for five seconds, then green, then blue.
    const colors =
      "color=red:s=320x180:r=25:d=5[r];color=lime:s=320x180:r=25:d=5[g];color=blue:s=320x180:r=25:d=4[b]";
    const { folder, path, out } = await film(
      "colors.mp4",
      ...["-filter_complex", `${colors};[r][g][b]concat=n=3`, ...quick],
    );
    await transcodeInto(folder, path);
    const cues = parseWebvtt(await readFile(join(out, "storyboard/storyboard.vtt"), "utf8"));
    expect(cues.map(({ startSeconds }) => startSeconds)).toEqual(
      Array.from({ length: seconds }, (_, i) => i),
    );
    expect(cues.at(-1)!.endSeconds).toBeCloseTo(seconds, 1);
    for (const { startSeconds, text } of cues) {
      const [, file, area] = /^(sheet_\d{5}\.jpg)#xywh=([\d,]+)$/.exec(text)!;
      const [x, y, w, h] = area!.split(",").map(Number);
      const { r, g, b } = await meanColor(join(out, "storyboard", file!), { x: x!, y: y!, w: w!, h: h! });
      const strongest = r > g && r > b ? "red" : g > b ? "green" : "blue";
      expect(`${startSeconds} ${strongest}`).toBe(
        `${startSeconds} ${startSeconds < 5 ? "red" : startSeconds < 10 ? "green" : "blue"}`,
      );
      expect([w, h]).toEqual([160, 90]);
    }
  });

  it("M11 has one picture for a video of one picture", async () => {
    const { folder, path, out } = await film("one.mp4", ...picture(), "-frames:v", "1", ...quick);
    await transcodeInto(folder, path);
    expect(parseWebvtt(await readFile(join(out, "storyboard/storyboard.vtt"), "utf8"))).toHaveLength(1);
  });
});

describe("posters", () => {
  const postersOf = async (out: string) =>
    (await readdir(out)).filter((name) => name.startsWith("poster-")).sort();

  it("M11 there are three suggestions from different parts of a film, and none is black", async () => {
    // Black for the first two fifths, and between.
    const dark = "drawbox=color=black:t=fill:enable='lt(t,6)+between(t,9,9.5)'";
    const { folder, path, out } = await film("dark.mp4", ...picture(), "-vf", dark, ...quick);
    const result = await transcodeInto(folder, path);
    const names = await postersOf(out);
    expect(names).toEqual(["poster-1.jpg", "poster-2.jpg", "poster-3.jpg"]);
    expect(result.posterSuggestions).toEqual(names);
    const pictures = new Set<string>();
    for (const name of names) {
      const { r, g, b } = await meanColor(join(out, name));
      expect(r + g + b).toBeGreaterThan(60);
      pictures.add((await readFile(join(out, name))).toString("base64"));
    }
    expect(pictures.size).toBe(3);
  });

  it("M11 a film that is black all along has its first picture", async () => {
    const { folder, path, out } = await film("black.mp4", ...picture("color=black:s=320x180:r=25"), ...quick);
    await transcodeInto(folder, path);
    expect(await postersOf(out)).toEqual(["poster-1.jpg"]);
  });
});
