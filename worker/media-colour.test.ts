/** M4: what a source's colours are, whatever its tags, samples and light. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pictureLevels } from "./testing/measure.ts";
import { h264, openSources, testPicture } from "./testing/sources.ts";

let sources: Awaited<ReturnType<typeof openSources>>;
beforeAll(async () => {
  sources = await openSources("colour");
});
afterAll(() => sources.remove());

/** SMPTE ST 2084, cd/m² to signal and back, and BT.2100's HLG for a display of 1000 cd/m². */
const pq = { m1: 2610 / 16384, m2: 2523 / 32, c1: 3424 / 4096, c2: 2413 / 128, c3: 2392 / 128 };
const pqSignal = (nits: number) => {
  const power = (nits / 10_000) ** pq.m1;
  return ((pq.c1 + pq.c2 * power) / (1 + pq.c3 * power)) ** pq.m2;
};
const pqNits = (signal: number) => {
  const power = signal ** (1 / pq.m2);
  return 10_000 * (Math.max(power - pq.c1, 0) / (pq.c2 - pq.c3 * power)) ** (1 / pq.m1);
};
const hlgSignal = (nits: number) => {
  const light = (nits / 1000) ** (1 / 1.2);
  return light <= 1 / 12 ? Math.sqrt(3 * light) : 0.17883277 * Math.log(12 * light - 0.28466892) + 0.55991073;
};

/** BT.2390-10 §5.4, from 1000 cd/m² down to an SDR white of 203, shown on a display of gamma 2.4: 8-bit luma. */
function referenceLuma(nits: number): number {
  const [top, target] = [pqSignal(1000), pqSignal(203) / pqSignal(1000)];
  const signal = pqSignal(nits) / top;
  const knee = 1.5 * target - 0.5;
  const t = (signal - knee) / (1 - knee);
  const pressed =
    signal <= knee
      ? signal
      : (2 * t ** 3 - 3 * t ** 2 + 1) * knee +
        (t ** 3 - 2 * t ** 2 + t) * (1 - knee) +
        (3 * t ** 2 - 2 * t ** 3) * target;
  return 16 + 219 * Math.min(1, pqNits(pressed * top) / 203) ** (1 / 2.4);
}

describe("HDR", () => {
  /** Black, shadow, dark grey, grey, light grey, diffuse white, two highlights, side by side. */
  const nits = [0, 2, 10, 26, 100, 203, 400, 1000];
  const patchWidth = 40;
  const lumaBySignal = (signalOf: (nits: number) => number) =>
    nits
      .map(
        (level, index) => `${Math.round(64 + 876 * signalOf(level))}*eq(floor(X/${patchWidth})\\,${index})`,
      )
      .join("+");
  const tagsOf = (transfer: string) => [
    "-color_primaries",
    "bt2020",
    "-color_trc",
    transfer,
    "-colorspace",
    "bt2020nc",
  ];
  const hdr10 =
    "max-cll=1000,400:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)";
  const kinds = [
    {
      kind: "HDR10 by x265",
      transfer: "smpte2084",
      signalOf: pqSignal,
      encoder: ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", `log-level=0:${hdr10}`],
      name: "hdr10.mp4",
    },
    {
      kind: "PQ without its other tags",
      transfer: "smpte2084",
      signalOf: pqSignal,
      encoder: [
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-color_primaries",
        "unknown",
        "-colorspace",
        "unknown",
      ],
      name: "bare.mkv",
    },
    {
      kind: "HLG as a phone writes it",
      transfer: "arib-std-b67",
      signalOf: hlgSignal,
      encoder: ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=0", "-tag:v", "hvc1"],
      name: "hlg.mov",
    },
    {
      kind: "HLG in ProRes",
      transfer: "arib-std-b67",
      signalOf: hlgSignal,
      encoder: ["-c:v", "prores_ks", "-profile:v", "3"],
      name: "prores.mov",
    },
  ];

  it.each(kinds)(
    "M4 browser-use/video-use#6 $kind becomes BT.709 about as bright as BT.2390 makes it",
    async ({ name, transfer, signalOf, encoder }) => {
      const grey = `color=black:size=${patchWidth * nits.length}x64:rate=10:duration=1,format=yuv420p10le,geq=lum='${lumaBySignal(signalOf)}':cb=512:cr=512`;
      const format = encoder.includes("prores_ks") ? "yuv422p10le" : "yuv420p10le";
      const path = await sources.make(
        name,
        ...["-f", "lavfi", "-i", grey, ...tagsOf(transfer), ...encoder, "-pix_fmt", format],
      );
      const { picture } = await sources.transcode(path);
      expect(picture.streams[0]).toMatchObject({
        ...{ pix_fmt: "yuv420p", color_range: "tv" },
        ...{ color_transfer: "bt709", color_primaries: "bt709", color_space: "bt709" },
      });
      const levels = await Promise.all(
        nits.map(async (_, index) => {
          const [level] = await pictureLevels(
            picture.joinedPath,
            `${patchWidth / 2}:32:${patchWidth * (index + 0.25)}:16`,
          );
          return level!;
        }),
      );
      for (const { u, v } of levels) expect(Math.max(Math.abs(u - 128), Math.abs(v - 128))).toBeLessThan(3);
      const lumas = levels.map(({ y }) => y);
      expect(lumas).toEqual(lumas.toSorted((a, b) => a - b));
      expect(lumas[0]).toBeLessThan(18);
      expect(lumas[1]! - lumas[0]!).toBeGreaterThan(20);
      expect(lumas[5]).toBeGreaterThan(175);
      expect(lumas[7]! - lumas[5]!).toBeGreaterThan(25);
      const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
      // Hable stays a tenth below that curve in HLG's shadows.
      expect(mean(lumas) / mean(nits.map(referenceLuma))).toBeGreaterThan(0.89);
      expect(mean(lumas) / mean(nits.map(referenceLuma))).toBeLessThan(1.1);
    },
  );

  it("M4 a bright red of BT.709 inside HDR keeps its hue", async () => {
    // BT.2087 table 4's first column: full red in BT.2020's primaries.
    const [r, g, b] = [0.6274, 0.0691, 0.0164].map((light) => Math.round(1023 * pqSignal(203 * light)));
    const red = `color=black:size=64x64:rate=10:duration=1,format=gbrp10le,geq=r=${r}:g=${g}:b=${b},scale=out_color_matrix=bt2020:out_range=tv,format=yuv420p10le`;
    const path = await sources.make(
      "red.mkv",
      "-f",
      "lavfi",
      "-i",
      red,
      ...h264.slice(0, 4),
      ...tagsOf("smpte2084"),
    );
    const { picture } = await sources.transcode(path);
    const [level] = await pictureLevels(picture.joinedPath);
    // Red's direction among the colour differences: V far above neutral, U a little below.
    expect(level!.v - 128).toBeGreaterThan(60);
    // SDR's own red has -0.23; one this bright is pressed towards the gamut's edge.
    const direction = (level!.u - 128) / (level!.v - 128);
    expect(direction).toBeLessThan(-0.1);
    expect(direction).toBeGreaterThan(-0.45);
  });
});

describe("SDR", () => {
  /** Full red in limited BT.709. */
  const red = { y: 63, u: 102, v: 240 };
  const zscale = (options: string) => `format=gbrp,zscale=${options}`;
  it.each([
    ["BT.709", "64x64", zscale("matrix=bt709:range=limited,format=yuv420p"), ["-colorspace", "bt709"]],
    [
      "BT.601 of 525 lines",
      "64x64",
      zscale("matrix=smpte170m:range=limited,format=yuv420p"),
      ["-colorspace", "smpte170m"],
    ],
    [
      "BT.601 of 625 lines",
      "64x64",
      zscale("matrix=bt470bg:range=limited,format=yuv420p"),
      ["-colorspace", "bt470bg"],
    ],
    [
      "BT.601 although it is HD",
      "1280x720",
      zscale("matrix=smpte170m:range=limited,format=yuv420p"),
      ["-colorspace", "smpte170m"],
    ],
    [
      "unmarked SD",
      "64x64",
      zscale("matrix=smpte170m:range=limited,format=yuv420p"),
      ["-colorspace", "unknown"],
    ],
    [
      "unmarked HD",
      "1280x720",
      zscale("matrix=bt709:range=limited,format=yuv420p"),
      ["-colorspace", "unknown"],
    ],
    [
      "full range",
      "64x64",
      zscale("matrix=bt709:range=full,format=yuv420p"),
      ["-colorspace", "bt709", "-color_range", "pc"],
    ],
    [
      "BT.2020",
      "64x64",
      zscale(
        "transferin=bt709:primariesin=bt709:matrix=bt2020nc:primaries=bt2020:transfer=bt709:range=limited,format=yuv420p10le",
      ),
      ["-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", "bt2020-10"],
    ],
    [
      "Display P3",
      "64x64",
      zscale(
        "transferin=bt709:primariesin=bt709:matrix=bt709:primaries=smpte432:transfer=bt709:range=limited,format=yuv420p",
      ),
      ["-colorspace", "bt709", "-color_primaries", "smpte432", "-color_trc", "bt709"],
    ],
    ["YCgCo", "64x64", zscale("matrix=ycgco:range=limited,format=yuv444p"), ["-colorspace", "ycgco"]],
    [
      "4:2:2 of 10 bits",
      "64x64",
      zscale("matrix=bt709:range=limited,format=yuv422p10le"),
      ["-colorspace", "bt709"],
    ],
  ])("M4 red of %s stays red", async (name, size, filter, tags) => {
    const path = await sources.make(
      `${name.replaceAll(/[^a-z0-9]/gi, "-")}.mkv`,
      ...["-f", "lavfi", "-i", `color=red:size=${size}:rate=10:duration=1`, "-vf", filter],
      ...["-c:v", "libx264", "-preset", "ultrafast", "-qp", "4", ...tags],
    );
    const { picture } = await sources.transcode(path);
    const [level] = await pictureLevels(picture.joinedPath, "32:32:16:16");
    for (const part of ["y", "u", "v"] as const) expect(Math.abs(level![part] - red[part])).toBeLessThan(8);
  });

  it.each([
    ["rgb24 in QuickTime Animation", "mov", ["-c:v", "qtrle", "-pix_fmt", "rgb24"]],
    ["RGB in H.264", "mkv", ["-c:v", "libx264rgb", "-preset", "ultrafast"]],
    ["RGB in Ut Video", "avi", ["-c:v", "utvideo", "-pix_fmt", "gbrp"]],
    ["JPEG", "avi", ["-c:v", "mjpeg", "-q:v", "2"]],
    ["PNG", "mov", ["-c:v", "png"]],
    ["a palette", "gif", []],
  ])("M4 red of %s stays red", async (name, container, encoder) => {
    const input = "color=red:size=64x64:rate=10:duration=1,format=rgb24";
    const path = await sources.make(
      `${name.replaceAll(" ", "-")}.${container}`,
      "-f",
      "lavfi",
      "-i",
      input,
      ...encoder,
    );
    const { picture } = await sources.transcode(path);
    const [level] = await pictureLevels(picture.joinedPath);
    for (const part of ["y", "u", "v"] as const) expect(Math.abs(level![part] - red[part])).toBeLessThan(5);
  });
});

describe("samples", () => {
  it.each([
    ["10 bits", "libx265", "yuv420p10le", "mp4"],
    ["4:2:2 of 10 bits", "libx264", "yuv422p10le", "mp4"],
    ["4:4:4", "libx264", "yuv444p", "mkv"],
    ["4:4:4 of 12 bits", "libx265", "yuv444p12le", "mp4"],
    ["16 bits", "ffv1", "yuv420p16le", "mkv"],
    ["grey alone", "libx264", "gray", "mp4"],
    ["grey of 10 bits", "ffv1", "gray10le", "mkv"],
    ["4:1:1", "dvvideo", "yuv411p", "avi"],
    ["4:1:0", "cinepak", "rgb24", "avi"],
    ["packed 4:2:2", "rawvideo", "yuyv422", "avi"],
    ["black and white", "ffv1", "gray16le", "mkv"],
  ])(
    "M3 video-dev/hls.js#6502 %s become H.264 Main or High of 8 bits at 4:2:0",
    async (name, codec, format, container) => {
      const size = codec === "dvvideo" ? ["-s", "720x480", "-r", "30000/1001"] : [];
      const quiet = codec === "libx265" ? ["-x265-params", "log-level=0"] : [];
      const path = await sources.make(
        `${name.replaceAll(/[^a-z0-9]/gi, "-")}.${container}`,
        ...[...testPicture("320x180", "10"), ...size, "-c:v", codec, "-pix_fmt", format, ...quiet],
      );
      const { picture, renditions } = await sources.transcode(path);
      expect(picture.streams[0]).toMatchObject({ codec_name: "h264", pix_fmt: "yuv420p" });
      for (const { codecs } of renditions) expect(codecs).toMatch(/^avc1\.(4d|64)/);
    },
  );
});

describe("transparency", () => {
  /** Bright magenta, of which the left half is transparent. */
  const half =
    "color=magenta:size=64x48:rate=10:duration=1,format=rgba,geq=r=255:g=0:b=255:a='if(lt(X,32),0,255)'";
  it.each([
    ["vp8.webm", ["-c:v", "libvpx", "-pix_fmt", "yuva420p", "-auto-alt-ref", "0"]],
    ["vp9.webm", ["-c:v", "libvpx-vp9", "-pix_fmt", "yuva420p"]],
    ["prores4444.mov", ["-c:v", "prores_ks", "-profile:v", "4444", "-pix_fmt", "yuva444p10le"]],
    ["animation.mov", ["-c:v", "qtrle", "-pix_fmt", "argb"]],
    ["png.mov", ["-c:v", "png", "-pix_fmt", "rgba"]],
    ["cineform.mov", ["-c:v", "cfhd", "-pix_fmt", "gbrap12le"]],
    ["ffv1.mkv", ["-c:v", "ffv1", "-pix_fmt", "bgra"]],
    ["ut.avi", ["-c:v", "utvideo", "-pix_fmt", "gbrap"]],
  ])("M4 what is transparent in %s is black, and the rest unchanged", async (name, encoder) => {
    const { picture } = await sources.transcode(
      await sources.make(name, "-f", "lavfi", "-i", half, ...encoder),
    );
    const [left] = await pictureLevels(picture.joinedPath, "24:40:4:4");
    const [right] = await pictureLevels(picture.joinedPath, "24:40:36:4");
    expect(left!.y).toBeLessThan(20);
    expect(Math.max(Math.abs(left!.u - 128), Math.abs(left!.v - 128))).toBeLessThan(6);
    expect(Math.abs(right!.y - 78)).toBeLessThan(6);
    expect(right!.v).toBeGreaterThan(210);
  });

  it("M4 what is half transparent is half as bright", async () => {
    const grey = "color=white:size=64x48:rate=10:duration=1,format=rgba,geq=r=255:g=255:b=255:a=128";
    const path = await sources.make(
      "grey.mov",
      "-f",
      "lavfi",
      "-i",
      grey,
      "-c:v",
      "qtrle",
      "-pix_fmt",
      "argb",
    );
    const { picture } = await sources.transcode(path);
    expect((await pictureLevels(picture.joinedPath))[0]!.y).toBeCloseTo(16 + 219 * (128 / 255), -1);
  });

  it("M4 an animated GIF's transparent ground is black, and each frame lies on what the one before left", async () => {
    const moving =
      "color=magenta:size=65x49:rate=10:duration=1,format=rgba,geq=r=255:g=0:b=255:a='if(between(X,N*6,N*6+5),255,0)'";
    const path = await sources.make(
      "moving.gif",
      ...["-f", "lavfi", "-i", moving],
      ...["-filter_complex", "split[a][b];[a]palettegen=reserve_transparent=1[p];[b][p]paletteuse"],
    );
    const { picture, durationSeconds } = await sources.transcode(path);
    expect(durationSeconds).toBeCloseTo(1, 1);
    expect(picture.streams[0]).toMatchObject({ width: 64, height: 48 });
    const levels = await pictureLevels(picture.joinedPath);
    expect(levels).toHaveLength(10);
    // One stripe at a time: a frame that left the former ones standing would grow brighter.
    for (const { y } of levels) expect(Math.abs(y - (16 + (6 / 65) * 62))).toBeLessThan(4);
  });
});
