import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readSignature, signatureBytes } from "./signature.ts";

const text = (value: string) => new TextEncoder().encode(value);
const corpus = "../shared/corpus";

describe("U5 a file is what its first bytes say", () => {
  it.each([
    ["an MP4", new Uint8Array([0, 0, 0, 24, ...text("ftypisom")]), "mp4"],
    ["an old QuickTime file without ftyp", new Uint8Array([0, 0, 0, 8, ...text("wide")]), "mp4"],
    ["a Matroska file", new Uint8Array([0x1a, 0x45, 0xdf, 0xa3]), "matroska"],
    ["an AVI", text("RIFF0000AVI LIST"), "avi"],
    ["a GIF", text("GIF89a"), "gif"],
  ])("%s is a video container", (_name, head, container) => {
    expect(readSignature(head)).toEqual({ kind: "video", container });
  });

  it.each([
    ["a ZIP archive", text("PK\u0003\u0004")],
    ["a PNG picture", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])],
    ["a web page", text("\n <!DOCTYPE html><html>")],
    ["a playlist", text("#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n")],
    ["a HEIF or AVIF picture", new Uint8Array([0, 0, 0, 24, ...text("ftypavif")])],
  ])("U6 %s is told by name", (name, head) => {
    expect(readSignature(head)).toEqual({ kind: "other", name });
  });

  it("U5 a transport stream is found though it begins in the middle of a packet", () => {
    const stream = new Uint8Array(188 * 6).fill(1);
    for (let i = 57; i < stream.length; i += 188) stream[i] = 0x47;
    expect(readSignature(stream)).toEqual({ kind: "video", container: "mpeg-ts" });
  });

  it("U6 nothing at all is unknown", () => {
    expect(readSignature(new Uint8Array())).toEqual({ kind: "unknown" });
    expect(readSignature(new Uint8Array(64).fill(7))).toEqual({ kind: "unknown" });
  });

  it.skipIf(!existsSync(corpus))(
    "U5 every real file of the corpus is told apart from what isn't a video",
    () => {
      const notVideos = readdirSync(corpus)
        .filter((name) => !/\.(md|json)$/.test(name))
        .filter(
          (name) =>
            readSignature(readFileSync(`${corpus}/${name}`).subarray(0, signatureBytes)).kind !== "video",
        );
      expect(notVideos.map((name) => name.split("--")[0]).sort()).toEqual([
        "audio-only-mp3-cover-art",
        "hls-playlist-local-file-read-renamed-mp4",
        "zero-byte",
        "zip-renamed-mp4",
      ]);
    },
  );
});
