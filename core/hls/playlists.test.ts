import fc from "fast-check";
import { parse as parseIndependently } from "hls-parser";
import { describe, expect, it } from "vitest";
import { measureBandwidth } from "./bandwidth.ts";
import { parseMediaPlaylist, parseMultivariantPlaylist, parsePlaylist } from "./parse.ts";
import { stringifyMediaPlaylist, stringifyMultivariantPlaylist } from "./stringify.ts";
import { type MediaPlaylist, type MultivariantPlaylist, PlaylistError } from "./types.ts";
import {
  resolveReference,
  targetDurationOf,
  verifyMediaPlaylist,
  verifyMultivariantPlaylist,
} from "./verify.ts";

const name = fc.stringMatching(/^[a-z0-9_]{1,12}$/);
const uri = fc.tuple(name, name).map(([folder, file]) => `${folder}/${file}.ts`);
const micros = fc.integer({ min: 1, max: 20_000_000 }).map((value) => value / 1e6);
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const mediaPlaylist: fc.Arbitrary<MediaPlaylist> = fc.record({
  kind: fc.constant("media"),
  version: fc.integer({ min: 3, max: 9 }),
  targetDurationSeconds: fc.integer({ min: 1, max: 60 }),
  mediaSequence: fc.nat(),
  playlistType: fc.constantFrom("VOD", "EVENT", null),
  independentSegments: fc.boolean(),
  ended: fc.boolean(),
  segments: fc.array(
    fc.record({
      uri,
      durationSeconds: micros,
      mapUri: fc.constant("init.mp4"),
      discontinuity: fc.boolean(),
    }),
  ),
});

const text = fc.stringMatching(/^[ -!#-~]{1,20}$/);
const multivariantPlaylist: fc.Arbitrary<MultivariantPlaylist> = fc.record({
  kind: fc.constant("multivariant"),
  version: fc.integer({ min: 3, max: 9 }),
  independentSegments: fc.boolean(),
  renditions: fc.array(
    fc.record({
      type: fc.constantFrom("AUDIO", "SUBTITLES"),
      groupId: text,
      name: text,
      language: orNull(fc.constantFrom("en", "sv", "pt-BR")),
      uri: orNull(uri),
      isDefault: fc.boolean(),
      autoselect: fc.boolean(),
      isForced: fc.boolean(),
      channels: orNull(fc.constantFrom("1", "2", "6")),
    }),
  ),
  variants: fc.array(
    fc.record({
      uri,
      bandwidthBps: fc.nat(),
      averageBandwidthBps: orNull(fc.nat()),
      codecs: fc.array(fc.constantFrom("avc1.64001f", "mp4a.40.2")),
      resolution: orNull(
        fc.record({ width: fc.integer({ min: 2, max: 8192 }), height: fc.integer({ min: 2, max: 8192 }) }),
      ),
      frameRate: orNull(fc.integer({ min: 1, max: 120_000 }).map((value) => value / 1000)),
      audioGroupId: orNull(text),
      subtitlesGroupId: orNull(text),
      closedCaptions: fc.constantFrom("NONE", null),
    }),
    { minLength: 1 },
  ),
});

const finished: MediaPlaylist = {
  kind: "media",
  version: 6,
  targetDurationSeconds: 6,
  mediaSequence: 1,
  playlistType: "VOD",
  independentSegments: true,
  ended: true,
  segments: [6.006, 6.006, 3.003].map((durationSeconds, index) => ({
    uri: `segment_0000${index + 1}.ts`,
    durationSeconds,
    mapUri: null,
    discontinuity: false,
  })),
};

const master: MultivariantPlaylist = {
  kind: "multivariant",
  version: 6,
  independentSegments: true,
  renditions: [
    {
      type: "AUDIO",
      groupId: "sound",
      name: "Sound",
      language: "sv",
      uri: "audio/playlist.m3u8",
      isDefault: true,
      autoselect: true,
      isForced: false,
      channels: "2",
    },
  ],
  variants: [
    {
      uri: "720p/playlist.m3u8",
      bandwidthBps: 2_800_000,
      averageBandwidthBps: 2_100_000,
      codecs: ["avc1.64001f", "mp4a.40.2"],
      resolution: { width: 1280, height: 720 },
      frameRate: 29.97,
      audioGroupId: "sound",
      subtitlesGroupId: null,
      closedCaptions: "NONE",
    },
  ],
};

describe("M3 playlists", () => {
  it("M3 a media playlist that is written is read back the same", () => {
    fc.assert(
      fc.property(mediaPlaylist, (playlist) => {
        expect(parsePlaylist(stringifyMediaPlaylist(playlist))).toEqual(playlist);
      }),
    );
  });

  it("M3 a multivariant playlist that is written is read back the same", () => {
    fc.assert(
      fc.property(multivariantPlaylist, (playlist) => {
        expect(parsePlaylist(stringifyMultivariantPlaylist(playlist))).toEqual(playlist);
      }),
    );
  });

  it("M3 an independent parser reads our media playlist as we mean it", () => {
    const read = parseIndependently(stringifyMediaPlaylist(finished));
    if (read.isMasterPlaylist) throw new Error("not a media playlist");
    expect(read).toMatchObject({
      targetDuration: 6,
      endlist: true,
      playlistType: "VOD",
      mediaSequenceBase: 1,
    });
    expect(read.segments.map((segment) => [segment.uri, segment.duration])).toEqual(
      finished.segments.map((segment) => [segment.uri, segment.durationSeconds]),
    );
  });

  it("M3 an independent parser reads our multivariant playlist as we mean it", () => {
    const read = parseIndependently(stringifyMultivariantPlaylist(master));
    if (!read.isMasterPlaylist) throw new Error("not a multivariant playlist");
    expect(read.independentSegments).toBe(true);
    const [variant] = read.variants;
    expect(variant).toMatchObject({
      uri: "720p/playlist.m3u8",
      bandwidth: 2_800_000,
      averageBandwidth: 2_100_000,
      codecs: "avc1.64001f,mp4a.40.2",
      resolution: { width: 1280, height: 720 },
      frameRate: 29.97,
    });
    expect(variant?.audio[0]).toMatchObject({ uri: "audio/playlist.m3u8", isDefault: true, channels: "2" });
  });

  it.each([
    ["no header", "#EXT-X-TARGETDURATION:6\n"],
    ["no target duration", "#EXTM3U\n#EXTINF:6,\na.ts\n"],
    ["a target duration that isn't whole", "#EXTM3U\n#EXT-X-TARGETDURATION:6.5\n"],
    ["a duration that isn't a number", "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:N/A,\na.ts\n"],
    ["a URI without duration", "#EXTM3U\n#EXT-X-TARGETDURATION:6\na.ts\n"],
    ["a duration without URI", "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n"],
    ["a variant without bandwidth", '#EXTM3U\n#EXT-X-STREAM-INF:CODECS="a"\na.m3u8\n'],
    ["both kinds", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n#EXTINF:6,\nb.ts\n"],
    ["broken attributes", '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="a\na.m3u8\n'],
    ["encryption", '#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF:6,\na.ts\n'],
  ])("M3 a playlist with %s is refused", (_, broken) => {
    expect(() => parsePlaylist(broken)).toThrow(PlaylistError);
  });

  it("M3 unknown tags, comments, blank lines and CRLF are read over", () => {
    const text =
      "\uFEFF#EXTM3U\r\n#EXT-X-NEW:1\r\n# a note\r\n\r\n#EXT-X-TARGETDURATION:6\r\n#EXTINF:6,t\r\na.ts\r\n";
    expect(parseMediaPlaylist(text).segments).toEqual([
      { uri: "a.ts", durationSeconds: 6, mapUri: null, discontinuity: false },
    ]);
    expect(() => parseMultivariantPlaylist(text)).toThrow(PlaylistError);
  });

  it("M3 any text is read or refused, never a fault", () => {
    fc.assert(
      fc.property(fc.string(), (rest) => {
        try {
          parsePlaylist(`#EXTM3U\n${rest}`);
        } catch (error) {
          expect(error).toBeInstanceOf(PlaylistError);
        }
      }),
    );
  });
});

describe("M7 what must hold of a playlist", () => {
  it("M7 good playlists have no problems", () => {
    expect(verifyMediaPlaylist(finished, "720p/playlist.m3u8")).toEqual([]);
    expect(verifyMultivariantPlaylist(master, "master.m3u8")).toEqual([]);
  });

  it.each<[string, Partial<MediaPlaylist>]>([
    ["a target duration below its longest segment", { targetDurationSeconds: 5 }],
    ["no end", { ended: false }],
    ["no segments", { segments: [] }],
    ["a segment twice", { segments: [finished.segments[0]!, finished.segments[0]!] }],
    ["a segment without duration", { segments: [{ ...finished.segments[0]!, durationSeconds: 0 }] }],
    ["a reference out of its version", { segments: [{ ...finished.segments[0]!, uri: "../../x.ts" }] }],
  ])("M7 a media playlist with %s has a problem", (_, change) => {
    expect(verifyMediaPlaylist({ ...finished, ...change }, "720p/playlist.m3u8")).not.toEqual([]);
  });

  it.each([
    ["no codecs", { codecs: [] }],
    ["no resolution", { resolution: null }],
    ["a missing group", { audioGroupId: "other" }],
    ["an average above its peak", { averageBandwidthBps: 3_000_000 }],
    ["a foreign host", { uri: "https://example.org/x.m3u8" }],
  ])("M7 a variant with %s has a problem", (_, change) => {
    const broken = { ...master, variants: [{ ...master.variants[0]!, ...change }] };
    expect(verifyMultivariantPlaylist(broken, "master.m3u8")).not.toEqual([]);
  });

  it.each([
    ["720p/playlist.m3u8", "segment_00001.ts", "720p/segment_00001.ts"],
    ["720p/playlist.m3u8", "../audio/segment_00001.ts", "audio/segment_00001.ts"],
    ["master.m3u8", "720p/playlist.m3u8", "720p/playlist.m3u8"],
    ["master.m3u8", "../x.m3u8", null],
    ["720p/playlist.m3u8", "../../x.ts", null],
    ["720p/playlist.m3u8", "/x.ts", null],
    ["720p/playlist.m3u8", "//host/x.ts", null],
    ["720p/playlist.m3u8", "file:///etc/passwd", null],
    ["720p/playlist.m3u8", "%2e%2e/%2e%2e/x.ts", null],
    ["720p/playlist.m3u8", "..\\..\\x.ts", null],
    ["720p/playlist.m3u8", "x.ts?token=1", null],
    ["720p/playlist.m3u8", "", null],
  ])("M7 seen from %s, %s means %s", (playlist, reference, expected) => {
    expect(resolveReference(playlist, reference)).toBe(expected);
  });

  it("M7 no target duration is below a rounded segment, and none is zero", () => {
    expect(targetDurationOf([6.006, 8.1])).toBe(8);
    expect(targetDurationOf([0.2])).toBe(1);
    // Written with six decimals it is 1.5.
    expect(targetDurationOf([1.49999999])).toBe(2);
    fc.assert(
      fc.property(fc.array(micros), (durations) => {
        const target = targetDurationOf(durations);
        expect(durations.every((seconds) => Math.round(seconds) <= target)).toBe(true);
      }),
    );
  });
});

describe("M3 bandwidth", () => {
  it("M3 the peak is the rate of the densest run of about one target duration", () => {
    const segments = [
      { durationSeconds: 6, sizeBytes: 600_000 },
      { durationSeconds: 6, sizeBytes: 1_200_000 },
      { durationSeconds: 0.1, sizeBytes: 100_000 },
    ];
    const { peakBps, averageBps } = measureBandwidth(segments, 6);
    // The last tenth of a second alone would be 8 Mbit/s; it counts together with the segment before it.
    expect(peakBps).toBe(Math.ceil((1_300_000 * 8) / 6.1));
    expect(averageBps).toBe(Math.ceil((1_900_000 * 8) / 12.1));
  });

  it("M3 the peak is never below the average", () => {
    const segment = fc.record({ durationSeconds: micros, sizeBytes: fc.nat() });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1 }), (segments) => {
        const { peakBps, averageBps } = measureBandwidth(segments, 6);
        expect(peakBps).toBeGreaterThanOrEqual(averageBps);
      }),
    );
  });
});
