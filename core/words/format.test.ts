import { describe, expect, it } from "vitest";
import {
  formatBytes,
  formatClock,
  formatDay,
  formatDuration,
  formatMoment,
  formatOrdinal,
  formatPercent,
  formatSpeed,
  formatUsd,
  formatWait,
  titleFromFilename,
} from "./format.ts";

/** Readers see a no-break space; the tests write a plain one. */
const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("figures as people read them", () => {
  it.each([
    [0, "0 %"],
    [0.29, "29 %"],
    [0.614, "61 %"],
    [0.999, "99 %"],
    [1, "100 %"],
    [1.2, "100 %"],
    [-1, "0 %"],
  ])("X1 %s reads %s: 100 %% is never shown before it is true", (fraction, text) => {
    expect(plain(formatPercent(fraction))).toBe(text);
  });

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [999.6, "1.0 kB"],
    [1_500, "1.5 kB"],
    [9_960_000, "10 MB"],
    [412_000_000, "412 MB"],
    [999_700_000, "1.0 GB"],
    [2_300_000_000, "2.3 GB"],
  ])("X1 %s bytes read %s", (sizeBytes, text) => {
    expect(plain(formatBytes(sizeBytes))).toBe(text);
  });

  it("U3 a speed is bytes a second", () => {
    expect(plain(formatSpeed(12_400_000))).toBe("12 MB/s");
  });

  it.each([
    [0, "$0.00"],
    [0.0004, "$0.01"],
    [1.2, "$1.20"],
    [1234.567, "$1234.57"],
  ])("J8 %s dollars read %s: what was spent never reads as nothing", (usd, text) => {
    expect(formatUsd(usd)).toBe(text);
  });

  it.each([
    [0.4, "0:00"],
    [59.6, "1:00"],
    [182, "3:02"],
    [761, "12:41"],
    [3_723, "1:02:03"],
  ])("X1 a film of %s s is %s long", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it.each([
    [0, "0 s"],
    [7.2, "8 s"],
    [11, "15 s"],
    [58, "55 s"],
    [60, "1 min"],
    [125, "2 min"],
    [3_599, "1 h"],
    [7_500, "2 h 5 min"],
  ])("U3 a wait of %s s reads %s", (seconds, text) => {
    expect(plain(formatWait(seconds))).toBe(text);
  });

  it.each([
    [1, "1st"],
    [2, "2nd"],
    [3, "3rd"],
    [4, "4th"],
    [11, "11th"],
    [12, "12th"],
    [13, "13th"],
    [21, "21st"],
    [112, "112th"],
  ])("X1 place %s in line reads %s", (n, text) => {
    expect(formatOrdinal(n)).toBe(text);
  });

  it.each([
    ["2026-11-20T14:02:00Z", "14:02"],
    ["2026-11-03T14:02:00Z", "3 Nov, 14:02"],
    ["2025-11-03T14:02:00Z", "3 Nov 2025"],
    // Half past midnight in Berlin is already the reader's today.
    ["2026-11-19T23:30:00Z", "00:30"],
  ])("X1 the moment %s reads %s", (iso, text) => {
    const reader = { now: new Date("2026-11-20T18:00:00Z"), timeZone: "Europe/Berlin" };
    expect(formatMoment(iso, text.endsWith("14:02") ? { ...reader, timeZone: "UTC" } : reader)).toBe(text);
  });

  it("J3 what changes within a minute is told to the second", () => {
    const reader = { now: new Date("2026-11-20T18:00:00Z"), timeZone: "Europe/Berlin" };
    expect(formatClock("2026-11-20T14:02:05Z", reader)).toBe("15:02:05");
  });

  it("X1 a day is told without its time, and with its year where that isn't this one", () => {
    const reader = { now: new Date("2026-11-20T18:00:00Z"), timeZone: "UTC" };
    expect(formatDay("2026-11-20T14:02:00Z", reader)).toBe("20 Nov");
    expect(formatDay("2025-12-31T23:59:00Z", reader)).toBe("31 Dec 2025");
  });

  it.each([
    ["Interview, take 2.final.MOV", "Interview, take 2.final"],
    [".mp4", ".mp4"],
    ["no ending", "no ending"],
  ])("U3 %s is first called %s", (filename, title) => {
    expect(titleFromFilename(filename)).toBe(title);
  });
});
