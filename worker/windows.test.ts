/** Films of over twenty minutes are encoded in windows; where they meet, nobody may see or hear it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EncodingProfile, hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openScratch } from "./scratch.ts";
import { directoryStore } from "./stages/directory-store.ts";
import { encode } from "./stages/encode.ts";
import { type EncodePlan, planEncode } from "./stages/plan.ts";
import { plainPlan } from "./stages/plan-refused.ts";
import { storePlaylists } from "./stages/playlists.ts";
import { probeSource } from "./stages/probe.ts";
import { ffmpeg, inspectTrack, packetTimes, testTools } from "./testing/media.ts";

/** Windows of two segments, so that a short film has several. */
const profile: EncodingProfile = {
  ...hlsTsV1,
  rungs: [hlsTsV1.rungs[0]],
  windows: { aboveSeconds: 20, seconds: 12 },
};

let root: string;
let film: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-windows-"));
  film = join(root, "film.mp4");
  const seconds = 40;
  await ffmpeg(
    ...["-f", "lavfi", "-i", `testsrc2=size=96x54:rate=30000/1001:duration=${seconds}`],
    ...["-f", "lavfi", "-i", `sine=frequency=300:beep_factor=3:duration=${seconds}`],
    ...[
      "-c:v",
      "libx264",
      "-preset",
      "ultrafast",
      "-bf",
      "2",
      "-g",
      "250",
      "-c:a",
      "aac",
      "-b:a",
      "256k",
      film,
    ],
  );
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function encodeBy(plan: EncodePlan, name: string): Promise<string> {
  const out = join(root, name);
  await using scratch = await openScratch(join(root, "scratch"), 0);
  const store = directoryStore(out);
  const options = { preset: "superfast" } as const;
  const { tracks } = await encode(testTools, plan, film, scratch.folder, store, options);
  await storePlaylists(store, plan, tracks);
  return out;
}

describe("windows", () => {
  it("M7 windows have every picture at its time and every sample of a run without windows", async () => {
    const plan = planEncode(await probeSource(testTools, film, profile), profile);
    expect(plan.windows.map(({ startSeconds }) => Math.round(startSeconds))).toEqual([0, 12, 24, 36]);
    const inWindows = await encodeBy(plan, "in-windows");
    const inOne = await encodeBy(plainPlan(plan), "in-one");
    const pictures = await Promise.all(
      [inWindows, inOne].map(async (out) => packetTimes((await inspectTrack(out, "240p")).joinedPath)),
    );
    expect(pictures[0]!.length).toBe(1199);
    expect(pictures[0]).toEqual(pictures[1]);
    const cuts = await Promise.all(
      [inWindows, inOne].map(async (out) => (await inspectTrack(out, "240p")).extinf),
    );
    // A window's first picture may come up to a picture after its time, and its segments are counted from there.
    expect(cuts[0]!.map((seconds) => Math.round(seconds * 10))).toEqual(
      cuts[1]!.map((seconds) => Math.round(seconds * 10)),
    );
    const sounds = await Promise.all(
      [inWindows, inOne].map(async (out) => {
        const { joinedPath } = await inspectTrack(out, "audio");
        return ffmpeg("-i", joinedPath, "-f", "md5", "-");
      }),
    );
    expect(sounds[0]).toEqual(sounds[1]);
  });
});
