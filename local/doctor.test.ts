import { execFile } from "node:child_process";
import path from "node:path";
import type { FfmpegParts } from "@reelkeep/worker/ffmpeg/parts";
import { describe, expect, it } from "vitest";
import { describeGpu } from "./doctor/gpu.ts";

/** Runs the command as npm's script does. */
const doctor = (args: readonly string[], env: Record<string, string> = {}) =>
  new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    const command = [path.join(import.meta.dirname, "setup.mjs"), "doctor", ...args];
    execFile(process.execPath, command, { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

describe("the doctor", () => {
  it("A3 alone it lists the parts that it knows", async () => {
    const { status, stdout } = await doctor([]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}gpu {2,}\S/m);
  });

  it("A3 a part that it doesn't know is told, with those that it does", async () => {
    const { status, stdout, stderr } = await doctor(["teeth"]);
    expect(status).toBe(64);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/There is no part "teeth"\.[\s\S]*gpu/);
  });

  it("M6 of this machine it says in words and as data the same, and by its exit status", async () => {
    const words = await doctor(["gpu"]);
    const data = await doctor(["gpu", "--json"]);
    const { part, usable, uses, ffmpeg, abilities, advice } = JSON.parse(data.stdout);
    expect(part).toBe("gpu");
    expect(words.status).toBe(usable ? 0 : 1);
    expect(data.status).toBe(words.status);
    expect(uses).toBe(usable ? "ffmpeg-nvenc" : "ffmpeg-cpu");
    expect(ffmpeg.libx264).toBe(true);
    expect(Object.values(abilities).every((ability) => ability === "works")).toBe(usable);
    expect(words.stdout).toContain(`FFmpeg ${ffmpeg.version}`);
    for (const sentence of advice) expect(words.stdout).toContain(sentence);
    expect(words.stdout).not.toMatch(/Cannot load|AVHWDeviceContext|@ 0x/);
  });

  it("M6 without FFmpeg it says what to install", async () => {
    const { status, stdout } = await doctor(["gpu"], { FFMPEG_PATH: "/nowhere/ffmpeg" });
    expect(status).toBe(1);
    expect(stdout).toMatch(/can't be started.*Install FFmpeg/);
  });
});

const ffmpeg: FfmpegParts = {
  version: "7.1",
  libx264: true,
  zscale: true,
  tonemap: true,
  cuda: true,
  scaleCuda: true,
  h264Nvenc: true,
};
const all = { nvdec: "works", scaleCuda: "works", nvenc: "works" } as const;

describe("what it says of cards", () => {
  it("M6 one that does all of it is used", () => {
    const { usable, lines, facts } = describeGpu({
      ffmpeg,
      cards: ["NVIDIA L4"],
      abilities: all,
      withoutCage: null,
    });
    expect(usable).toBe(true);
    expect(facts).toMatchObject({ uses: "ffmpeg-nvenc", advice: [] });
    expect(lines.join("\n")).toMatch(/NVIDIA L4[\s\S]*made on the card/);
  });

  it("M6 one that decodes and can't encode isn't, and others are named", () => {
    const abilities = { ...all, nvenc: { refused: "not-on-this-card" } } as const;
    const { usable, lines } = describeGpu({
      ffmpeg,
      cards: ["NVIDIA H200"],
      abilities,
      withoutCage: abilities,
    });
    expect(usable).toBe(false);
    expect(lines.join("\n")).toMatch(
      /ok {2}Decoding[\s\S]*no {2}Encoding[\s\S]*on the processor[\s\S]*T4, L4 or A10G/,
    );
  });

  it("M6 one cause is told once", () => {
    const refused = { refused: "no-driver" } as const;
    const abilities = { nvdec: refused, scaleCuda: refused, nvenc: refused };
    const { lines } = describeGpu({ ffmpeg, cards: [], abilities, withoutCage: null });
    expect(lines.filter((line) => line.startsWith("→")).length).toBe(1);
  });

  it("M6 a cage that keeps FFmpeg from its card is told as such", () => {
    const abilities = { ...all, nvdec: { refused: "no-device" } } as const;
    const { usable, lines } = describeGpu({ ffmpeg, cards: ["NVIDIA L4"], abilities, withoutCage: all });
    expect(usable).toBe(false);
    expect(lines.at(-1)).toMatch(/outside the cage/);
  });
});
