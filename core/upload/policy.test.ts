import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkUploadSize,
  defaultUploadLimits,
  extensionOf,
  partLength,
  planTransfer,
  storageLimits,
  uploadContentType,
} from "./policy.ts";

const mebibyte = 1024 * 1024;
const code = (value: string) => expect.objectContaining({ code: value });

describe("U2 how a file travels", () => {
  it("U2 one PUT below 100 MiB, parts of 16 MiB at or above it", () => {
    expect(planTransfer(100 * mebibyte - 1, defaultUploadLimits)).toMatchObject({
      method: "put",
      partSizeBytes: null,
    });
    expect(planTransfer(100 * mebibyte, defaultUploadLimits)).toEqual({
      method: "multipart",
      partSizeBytes: 16 * mebibyte,
      partCount: 7,
    });
  });

  it("U2 whatever the size, the parts cover the file exactly, at most 900 of them, each within storage's limits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100 * mebibyte, max: 5 * 1024 ** 4 }), (sizeBytes) => {
        const { partSizeBytes, partCount } = planTransfer(sizeBytes, defaultUploadLimits);
        expect(partCount).toBeLessThanOrEqual(900);
        expect(partSizeBytes).toBeGreaterThanOrEqual(storageLimits.partBytesMin);
        const last = partLength(sizeBytes, partSizeBytes!, partCount)!;
        expect((partCount - 1) * partSizeBytes! + last).toBe(sizeBytes);
        expect(last).toBeGreaterThan(0);
        expect(partLength(sizeBytes, partSizeBytes!, partCount + 1)).toBeNull();
      }),
    );
  });

  it.each([0, -1, 1.5, Number.NaN])("U2 there is no part number %s", (partNumber) => {
    expect(partLength(10 * mebibyte, 5 * mebibyte, partNumber)).toBeNull();
  });
});

describe("U1 what may be uploaded", () => {
  it.each([
    ["film.mp4", "video/mp4", "video/mp4"],
    ["FILM.MOV", "video/quicktime; codecs=x", "video/quicktime"],
    ["film.mkv", "", "video/x-matroska"],
    ["film.avi", "application/octet-stream", "video/x-msvideo"],
    ["film.webm", "video/mp4", "video/webm"],
  ])("U1 %s announced as “%s” travels as %s", (filename, announced, type) => {
    expect(uploadContentType(filename, announced)).toBe(type);
  });

  it.each([
    ["notes.txt", "video/mp4"],
    ["film.mp4", "text/html"],
    ["film", "video/mp4"],
    ["film.mp4.exe", "video/mp4"],
  ])("U1 %s announced as “%s” is refused", (filename, announced) => {
    expect(() => uploadContentType(filename, announced)).toThrow(code("file-type-not-allowed"));
  });

  it("U1 an ending is told in lower case, and only a plain one counts", () => {
    expect([extensionOf("a.MP4"), extensionOf("a.b.Mov"), extensionOf("a"), extensionOf("a.m/p4")]).toEqual([
      "mp4",
      "mov",
      "",
      "",
    ]);
  });

  it("U1 nothing at all, and more than the limit, are refused before a byte is sent", () => {
    expect(() => checkUploadSize(0, defaultUploadLimits)).toThrow(code("empty-file"));
    expect(() => checkUploadSize(defaultUploadLimits.sizeBytesMax + 1, defaultUploadLimits)).toThrow(
      code("file-too-large"),
    );
    expect(() => checkUploadSize(defaultUploadLimits.sizeBytesMax, defaultUploadLimits)).not.toThrow();
  });
});
