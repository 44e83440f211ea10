import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ffmpeg } from "./testing/media.ts";

let root: string;
let source: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-command-"));
  source = join(root, "source file.mp4");
  await ffmpeg(
    ...[
      "-f",
      "lavfi",
      "-i",
      "testsrc2=size=160x90:rate=25:duration=1",
      "-f",
      "lavfi",
      "-i",
      "sine=duration=1",
    ],
    ...["-c:v", "libx264", "-preset", "ultrafast", source],
  );
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const transcode = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const command = [join(import.meta.dirname, "transcode.ts"), ...args];
    execFile(process.execPath, command, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr });
    });
  });

describe("the transcode command", () => {
  it("M3 with --json stdout is one object that describes the result", async () => {
    const out = join(root, "plain");
    const { status, stdout, stderr } = await transcode([source, "--out", out, "--json"]);
    expect(status).toBe(0);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      status: "completed",
      master: "master.m3u8",
      durationSeconds: 1,
      hasAudio: true,
      renditions: [
        {
          name: "240p",
          width: 160,
          height: 90,
          bandwidth: expect.any(Number),
          codecs: expect.stringMatching(/^avc1\.[0-9a-f]{6},mp4a\.40\.2$/),
          segments: 1,
          copied: false,
        },
      ],
    });
    expect((await readdir(out)).toSorted()).toEqual([
      ...["240p", "audio", "master.m3u8", "poster-1.jpg", "poster-2.jpg", "poster-3.jpg", "storyboard"],
    ]);
  });

  it("M1 a file that isn't a video is rejected with status 2, and nothing is written", async () => {
    const file = join(root, "notes.mp4");
    await writeFile(file, "just words");
    const out = join(root, "rejected");
    const { status, stdout } = await transcode([file, "--out", out, "--json"]);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ status: "rejected", code: "not-a-video" });
    expect(existsSync(out)).toBe(false);
    const plain = await transcode([file, "--out", out]);
    expect([plain.status, plain.stdout]).toEqual([2, ""]);
    expect(plain.stderr).toContain("not-a-video");
  });

  it("M3 an earlier result is replaced, anything else is refused and kept", async () => {
    const out = join(root, "again");
    expect((await transcode([source, "--out", out])).status).toBe(0);
    await writeFile(join(out, "240p", "segment_00009.ts"), "of an earlier, longer video");
    expect((await transcode([source, "--out", out])).status).toBe(0);
    expect(await readdir(join(out, "240p"))).toEqual(["playlist.m3u8", "segment_00001.ts"]);

    const taken = join(root, "taken");
    await mkdir(taken);
    await writeFile(join(taken, "thesis.txt"), "years of work");
    const refused = await transcode([source, "--out", taken]);
    expect(refused.status).toBe(64);
    expect(await readdir(taken)).toEqual(["thesis.txt"]);
  });

  it("M1 a source that turns out to be cut off leaves nothing half done behind", async () => {
    const whole = join(root, "whole.mp4");
    const picture = "testsrc2=size=160x90:rate=25:duration=8";
    await ffmpeg("-f", "lavfi", "-i", picture, "-c:v", "libx264", "-movflags", "+faststart", whole);
    const file = join(root, "cut-off.mp4");
    const bytes = await readFile(whole);
    await writeFile(file, bytes.subarray(0, bytes.length / 2));
    const out = join(root, "cut");
    const { status, stdout } = await transcode([file, "--out", out, "--json"]);
    expect([status, JSON.parse(stdout).code]).toEqual([2, "unreadable-file"]);
    expect(await readdir(out)).toEqual([]);
  });

  it.each([
    ["no file", ["--out", "x"]],
    ["no output", ["a.mp4"]],
    ["two files", ["a.mp4", "b.mp4", "--out", "x"]],
    ["an unknown option", ["a.mp4", "--out", "x", "--fast"]],
    ["a missing file", ["/does/not/exist.mp4", "--out", "x"]],
  ])("M1 wrong usage (%s) says how it is done", async (_, args) => {
    const { status, stdout, stderr } = await transcode(args);
    expect([status, stdout]).toEqual([64, ""]);
    expect(stderr).toContain("Usage: npm run transcode");
  });

  it("M1 an unknown profile is named", async () => {
    const { status, stderr } = await transcode([source, "--out", join(root, "p"), "--profile", "nope"]);
    expect(status).toBe(64);
    expect(stderr).toContain("nope");
  });

  it("M1 without FFmpeg it says what to install", async () => {
    const out = join(root, "none");
    const env = { FFMPEG_PATH: join(root, "missing-ffmpeg") };
    const { status, stdout, stderr } = await transcode([source, "--out", out, "--json"], env);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: "failed", code: "worker-failed" });
    expect(stderr + stdout).toContain("Install FFmpeg");
  });
});
