/** Pictures with transparency, and sound of many channels: what people see and hear of them. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ffmpeg, inspectTrack, meanColor, transcodeInto } from "./testing/media.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-look-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function film(name: string, ...args: string[]) {
  const folder = await mkdtemp(join(root, "film-"));
  await ffmpeg(...args, join(folder, name));
  return { folder, path: join(folder, name), out: join(folder, "out") };
}

describe("transparency", () => {
  // Red on the left, and red that can't be seen on the right.
  const half =
    "color=red:s=320x180:r=10:d=1,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(lt(X,160),255,0)'";
  const kinds: Record<string, readonly string[]> = {
    "vp8.webm": ["-pix_fmt", "yuva420p", "-c:v", "libvpx", "-auto-alt-ref", "0", "-b:v", "1M"],
    "vp9.webm": ["-pix_fmt", "yuva420p", "-c:v", "libvpx-vp9", "-b:v", "1M"],
    "animation.mov": ["-c:v", "qtrle"],
    "prores.mov": ["-pix_fmt", "yuva444p10le", "-c:v", "prores_ks", "-profile:v", "4444"],
    "png.mov": ["-c:v", "png"],
    "drawing.gif": [
      "-filter_complex",
      "split[a][b];[a]palettegen=reserve_transparent=1[p];[b][p]paletteuse=alpha_threshold=128",
    ],
  };
  it.for(Object.entries(kinds))("M4 what can be seen through in %s is black", async ([name, codec]) => {
    const { folder, path, out } = await film(name, "-f", "lavfi", "-i", half, ...codec);
    await transcodeInto(folder, path);
    const { joinedPath } = await inspectTrack(out, "240p");
    const shown = await meanColor(joinedPath, { x: 0, y: 0, w: 140, h: 180 });
    const hidden = await meanColor(joinedPath, { x: 180, y: 0, w: 140, h: 180 });
    expect(shown.r).toBeGreaterThan(200);
    expect(shown.g + shown.b).toBeLessThan(60);
    expect(hidden.r + hidden.g + hidden.b).toBeLessThan(20);
    const poster = await meanColor(join(out, "poster-1.jpg"), { x: 180, y: 0, w: 140, h: 180 });
    expect(poster.r + poster.g + poster.b).toBeLessThan(40);
  });
});

/** Peak and mean power of each channel of a sound, in dB of full scale. */
async function levelsOf(path: string) {
  const raw = join(root, "levels.pcm");
  await ffmpeg("-i", path, "-ss", "0.5", "-t", "1", "-vn", "-ac", "2", "-ar", "48000", "-f", "f32le", raw);
  const bytes = await readFile(raw);
  const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const channel = (first: number) => samples.filter((_, i) => i % 2 === first);
  const decibels = (ratio: number) => 20 * Math.log10(Math.max(ratio, 1e-6));
  return [channel(0), channel(1)].map((values) => ({
    peak: decibels(values.reduce((max, value) => Math.max(max, Math.abs(value)), 0)),
    mean: decibels(Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length)),
  })) as [{ peak: number; mean: number }, { peak: number; mean: number }];
}

describe("sound of many channels", () => {
  const tone = (level: number) => `${level}*sin(2*PI*500*t)`;
  /** A sine's mean power is 3 dB below its peak. */
  const meanOf = (peak: number) => 20 * Math.log10(peak) - 3.01;
  async function heard(layout: string, channels: readonly string[], codec: readonly string[]) {
    const { folder, path, out } = await film(
      "film.mkv",
      ...["-f", "lavfi", "-i", "color=gray:s=64x36:r=10:d=3"],
      ...["-f", "lavfi", "-i", `aevalsrc=${channels.join("|")}:c=${layout}:s=48000:d=3`],
      ...["-c:v", "libx264", "-preset", "ultrafast", ...codec],
    );
    await transcodeInto(folder, path);
    return levelsOf((await inspectTrack(out, "audio")).joinedPath);
  }
  const pcm = ["-c:a", "pcm_s16le"];

  it("M4 the dialogue of 5.1 and 7.1, in the centre, is heard on both sides at -3 dB", async () => {
    for (const [layout, codec, count] of [
      ["5.1", pcm, 6],
      ["5.1", ["-c:a", "ac3", "-b:a", "448k"], 6],
      ["7.1", pcm, 8],
    ] as const) {
      const channels = Array.from({ length: count }, (_, i) => (i === 2 ? tone(0.5) : "0"));
      const [left, right] = await heard(layout, channels, codec);
      expect(Math.abs(left.mean - meanOf(0.5 * Math.SQRT1_2))).toBeLessThan(1);
      expect(Math.abs(right.mean - left.mean)).toBeLessThan(0.5);
    }
  });

  it("M4 front and back stay on their side", async () => {
    for (const channel of [0, 4]) {
      const channels = Array.from({ length: 6 }, (_, i) => (i === channel ? tone(0.5) : "0"));
      const [left, right] = await heard("5.1", channels, pcm);
      expect(left.mean).toBeGreaterThan(-14);
      expect(right.mean).toBeLessThan(-50);
    }
  });

  it("M4 loud sound on all channels doesn't clip", async () => {
    const [left, right] = await heard(
      "5.1",
      Array.from({ length: 6 }, () => tone(0.9)),
      pcm,
    );
    expect(Math.max(left.peak, right.peak)).toBeLessThan(0);
    expect(left.mean).toBeGreaterThan(-6);
  });

  it("M4 the loudness of stereo and mono is left alone", async () => {
    const [left, right] = await heard("stereo", [tone(0.5), tone(0.25)], pcm);
    expect(Math.abs(left.mean - meanOf(0.5))).toBeLessThan(0.5);
    expect(Math.abs(right.mean - meanOf(0.25))).toBeLessThan(0.5);
    const mono = await heard("mono", [tone(0.5)], pcm);
    for (const { mean } of mono) expect(Math.abs(mean - meanOf(0.5))).toBeLessThan(0.5);
  });
});

describe("high dynamic range", () => {
  /** SMPTE ST 2084: the 10-bit code of a light in cd/m², in limited range. */
  const pq = (nits: number): number => {
    const y = (nits / 10_000) ** 0.1593017578125;
    return 64 + 876 * ((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y)) ** 78.84375;
  };
  /** ITU-R BT.2100: the 10-bit code of a scene light from 0 to 1, in limited range. */
  const hlg = (light: number): number =>
    64 +
    876 *
      (light <= 1 / 12 ? Math.sqrt(3 * light) : 0.17883277 * Math.log(12 * light - 0.28466892) + 0.55991073);

  /** Four grey stripes of these codes, black first. */
  async function stripes(transfer: string, codes: readonly number[]): Promise<number[]> {
    const steps = codes.map((code, i) => `if(lt(X,${(i + 1) * 80}),${Math.round(code)}`).join(",");
    const lum = `${steps},0${")".repeat(codes.length)}`;
    const graph = `color=gray:s=320x180:r=10:d=1,format=yuv420p10le,geq=lum='${lum}':cb=512:cr=512`;
    const tags = [
      "-color_primaries",
      "bt2020",
      "-color_trc",
      transfer,
      "-colorspace",
      "bt2020nc",
      "-color_range",
      "tv",
    ];
    const x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "4"];
    const { folder, path, out } = await film("hdr.mp4", "-f", "lavfi", "-i", graph, ...tags, ...x264);
    const { plan } = await transcodeInto(folder, path);
    expect(plan.video.hdr).not.toBeNull();
    const { joinedPath, streams } = await inspectTrack(out, "240p");
    expect(streams[0]).toMatchObject({ pix_fmt: "yuv420p", color_transfer: "bt709", color_space: "bt709" });
    const light: number[] = [];
    for (const i of codes.keys()) {
      const { r, g, b } = await meanColor(joinedPath, { x: i * 80 + 20, y: 20, w: 40, h: 140 });
      // What was neutral still is.
      expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThanOrEqual(8);
      light.push(g);
    }
    return light;
  }

  it("M4 HDR10 keeps black black, greys apart and white bright, and stays neutral", async () => {
    const [black, dark, white, bright] = await stripes("smpte2084", [64, pq(20), pq(203), pq(1000)]);
    expect(black).toBeLessThan(16);
    expect(dark).toBeGreaterThan(black! + 20);
    // Diffuse white of ITU-R BT.2408; above it there is still something to tell apart.
    expect(white).toBeGreaterThan(140);
    expect(bright).toBeGreaterThan(white! + 20);
  });

  it("M4 HLG does so too", async () => {
    const [black, dark, white, bright] = await stripes("arib-std-b67", [64, hlg(0.02), hlg(0.265), hlg(1)]);
    expect(black).toBeLessThan(16);
    expect(dark).toBeGreaterThan(black! + 20);
    expect(white).toBeGreaterThan(140);
    expect(bright).toBeGreaterThan(white! + 20);
  });
});
