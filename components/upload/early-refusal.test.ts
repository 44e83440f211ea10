import { defaultUploadLimits } from "@reelkeep/core/upload/policy";
import { describe, expect, it } from "vitest";
import { earlyRefusal } from "./early-refusal.ts";

const limits = { ...defaultUploadLimits, sizeBytesMax: 1_000 };
const codeFor = (name: string, type: string, size: number) =>
  earlyRefusal({ name, type, size }, limits)?.code;

describe("what the browser refuses by itself", () => {
  it.each([
    ["holiday.zip", "application/zip", 10, "file-type-not-allowed"],
    ["no-ending", "video/mp4", 10, "file-type-not-allowed"],
    ["empty.mp4", "video/mp4", 0, "empty-file"],
    ["big.mp4", "video/mp4", 1_001, "file-too-large"],
  ])("U4 %s (%s, %i bytes) is refused as %4$s before a byte is sent", (name, type, size, code) => {
    expect(codeFor(name, type, size)).toBe(code);
  });

  it.each([
    ["film.mp4", "video/mp4"],
    ["FILM.MKV", ""],
    ["camera.mts", "application/octet-stream"],
  ])("U4 %s (%s) goes on: only the server can know more", (name, type) => {
    expect(codeFor(name, type, 1_000)).toBeUndefined();
  });

  it("U4 a refusal says in words what is wrong and what to do", () => {
    const refusal = earlyRefusal({ name: "a.zip", type: "", size: 1 }, limits);
    expect(refusal?.message).toMatch(/\.$/);
    expect(refusal?.next).toMatch(/\.$/);
  });
});
