import { describe, expect, it } from "vitest";
import { describeSending, type SendingFacts, sendingPhases } from "./sending.ts";

const facts: SendingFacts = {
  phase: "sending",
  filename: "interview.mov",
  sentBytes: 430_000_000,
  sizeBytes: 1_000_000_000,
  bytesPerSecond: 4_750_000,
  problem: null,
};

function read(change: Partial<SendingFacts>): string {
  const { label, detail } = describeSending({ ...facts, ...change });
  return `${label} | ${detail}`.replaceAll("\u00a0", " ");
}

describe("what people read while a file is sent", () => {
  it("U3 progress, speed and time left", () => {
    expect(read({})).toBe("Uploading 43 % · 2 min left | 430 MB of 1.0 GB · 4.8 MB/s");
  });

  it("U3 no time left is claimed while the speed is unknown or zero", () => {
    expect(read({ bytesPerSecond: null })).toBe("Uploading 43 % | 430 MB of 1.0 GB");
    expect(read({ bytesPerSecond: 0 })).not.toContain("left");
  });

  it("U3 a lost connection says that nothing is lost", () => {
    expect(read({ phase: "disconnected" })).toBe(
      "Waiting for your connection | Nothing is lost; it goes on by itself.",
    );
  });

  it("U3 after a reload the same file is asked for", () => {
    expect(read({ phase: "file-needed" })).toBe(
      "Interrupted at 43 % | Choose interview.mov again; it goes on where it stopped.",
    );
  });

  it("U4 a refusal says what is wrong and what to do next", () => {
    const problem = { message: "This kind of file isn't accepted.", next: "Choose a video file." };
    expect(read({ phase: "refused", problem })).toBe(
      "Not accepted | This kind of file isn't accepted. Choose a video file.",
    );
  });

  it("U3 every phase has words", () => {
    for (const phase of sendingPhases) expect(describeSending({ ...facts, phase }).label).toMatch(/\w/);
  });

  it("U3 an empty file divides by nothing", () => {
    expect(describeSending({ ...facts, sentBytes: 0, sizeBytes: 0 }).fraction).toBe(0);
  });
});
