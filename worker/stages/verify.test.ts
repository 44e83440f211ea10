import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ffmpeg, testTools } from "../testing/media.ts";
import { directoryStore } from "./directory-store.ts";
import { type EncodedTrack, encode } from "./encode.ts";
import { type EncodePlan, planEncode } from "./plan.ts";
import { storePlaylists } from "./playlists.ts";
import { probeSource } from "./probe.ts";
import { type CompleteRendition, verifyOutput } from "./verify.ts";

let root: string;
let whole: string;
let plan: EncodePlan;
let tracks: readonly EncodedTrack[];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-verify-"));
  const source = join(root, "source.mp4");
  await ffmpeg(
    ...[
      "-f",
      "lavfi",
      "-i",
      "testsrc2=size=640x360:rate=25:duration=13",
      "-f",
      "lavfi",
      "-i",
      "sine=duration=13",
    ],
    ...["-c:v", "libx264", "-preset", "ultrafast", source],
  );
  whole = join(root, "whole");
  await mkdir(join(root, "work"));
  plan = planEncode(await probeSource(testTools, source, hlsTsV1), hlsTsV1);
  const store = directoryStore(whole);
  ({ tracks } = await encode(testTools, plan, source, join(root, "work"), store, { preset: "superfast" }));
  await storePlaylists(store, plan, tracks);
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A copy for each test to damage, times kept, because a folder's ETags are made of them. */
let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(root, "copy-"));
  await promisify(execFile)("cp", ["-pr", `${whole}/.`, out]);
});

describe("M7 output that is whole", () => {
  it("M7 passes, rendition by rendition, and its inventory is everything in storage", async () => {
    const complete: CompleteRendition[] = [];
    const inventory = await verifyOutput(directoryStore(out), plan, tracks, {
      onRenditionComplete: (rendition) => {
        complete.push(rendition);
      },
    });
    expect(complete.map(({ name, segmentCount }) => [name, segmentCount])).toEqual([
      ["360p", 3],
      ["240p", 3],
      ["audio", 3],
    ]);
    expect(inventory).toHaveLength(1 + 3 + 9 + 1);
    expect(inventory.every(({ sizeBytes, etag }) => sizeBytes > 0 && etag !== "")).toBe(true);
  });

  it("M7 a plan survives JSON", () => {
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  it("M7 a rendition that the plan names and nobody made is missed", async () => {
    const verifying = verifyOutput(directoryStore(out), plan, tracks.slice(1));
    await expect(verifying).rejects.toMatchObject({ code: "verification-failed" });
  });

  it("M7 renditions that are cut at different times are refused", async () => {
    const [first, second, ...others] = tracks;
    const [a, b, ...segments] = second!.segments;
    const shifted = [
      { ...a!, durationSeconds: a!.durationSeconds + 1 },
      { ...b!, durationSeconds: b!.durationSeconds - 1 },
      ...segments,
    ];
    const uneven = [first!, { ...second!, segments: shifted }, ...others];
    await storePlaylists(directoryStore(out), plan, uneven);
    await expect(verifyOutput(directoryStore(out), plan, uneven)).rejects.toMatchObject({
      code: "verification-failed",
      cause: { message: `${second!.name} is cut at other times than ${first!.name}` },
    });
  });
});

describe("M7 output that was damaged after it had been stored is not published", () => {
  const segment = () => join(out, "240p", "segment_00001.ts");
  const playlist = () => join(out, "240p", "playlist.m3u8");
  const master = () => join(out, "master.m3u8");
  const edit = async (path: string, change: (text: string) => string) =>
    writeFile(path, change(await readFile(path, "utf8")));

  it.each<[string, () => Promise<unknown>]>([
    ["a missing segment", () => rm(segment())],
    ["an empty segment", () => truncate(segment(), 0)],
    ["a longer segment", () => appendFile(segment(), "x")],
    ["a segment taken off its list", () => edit(playlist(), (t) => t.replace(/#EXTINF.*\n.*\n/, ""))],
    ["a wrong duration", () => edit(playlist(), (t) => t.replace("#EXTINF:6.00", "#EXTINF:5.99"))],
    ["a list without end", () => edit(playlist(), (t) => t.replace("#EXT-X-ENDLIST\n", ""))],
    [
      "a reference out of its prefix",
      () => edit(playlist(), (t) => t.replace("segment_00001", "../../x/segment_00001")),
    ],
    ["a list that isn't one", () => writeFile(playlist(), "not a playlist")],
    ["a missing rendition", () => edit(master(), (t) => t.replace(/#EXT-X-STREAM-INF.*\n.*\n/, ""))],
    ["a wrong codec", () => edit(master(), (t) => t.replace("avc1.4d", "avc1.64"))],
    ["sound that isn't listed", () => edit(master(), (t) => t.replace(/#EXT-X-MEDIA.*\n/, ""))],
  ])("M7 %s", async (_, harm) => {
    await harm();
    const verifying = verifyOutput(directoryStore(out), plan, tracks);
    await expect(verifying).rejects.toMatchObject({ code: "verification-failed", retryable: true });
  });
});
