import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  openAsBlob,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createObjectStore, type ObjectStore } from "@reelkeep/aws/object-store";
import { AppError } from "@reelkeep/core/errors";
import { defaultUploadLimits, type UploadLimits } from "@reelkeep/core/upload/policy";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { checkObject } from "@reelkeep/services/check-object";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { earlyRefusal, type Refusal } from "./early-refusal.ts";
import { lookInside } from "./look-inside.ts";

const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-look-"));
afterAll(() => rmSync(folder, { recursive: true }));

const h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"];

/** Makes a file with FFmpeg from a generated source. */
function make(name: string, source: string, ...args: string[]): string {
  const file = path.join(folder, name);
  const input = ["-v", "error", "-y", "-f", "lavfi", "-i", source];
  execFileSync(process.env.FFMPEG_PATH || "ffmpeg", [...input, ...args, file]);
  return file;
}

function write(name: string, content: string | Uint8Array): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

const film = () => make("film.mp4", "testsrc2=s=320x180:r=25:d=2", ...h264);

/** What the browser says of a file; null where it would send it. */
const browserSays = async (file: string, limits = defaultUploadLimits) =>
  lookInside(await openAsBlob(file), limits);

describe("what the browser finds in a file by itself", () => {
  it.each([
    ["a text that is named .mp4", "not-a-video", () => write("notes.mp4", "Nothing but words.\n")],
    ["a ZIP archive that is named .mp4", "not-a-video", () => write("zip.mp4", "PK\x03\x04 and so on")],
    ["a playlist that is named .mp4", "not-a-video", () => write("list.mp4", "#EXTM3U\n#EXTINF:1,\na.ts\n")],
    ["an MP4 with sound alone", "no-video-track", () => make("sound.mp4", "sine=d=1")],
    ["a Matroska file with sound alone", "no-video-track", () => make("sound.mkv", "sine=d=1")],
    [
      "a video of 13 hours",
      "video-too-long",
      () => make("long.mp4", "color=s=64x64:r=1/3600:d=46800", ...h264),
    ],
    [
      "a picture of 8192x4400",
      "video-too-big",
      () => make("big.mp4", "color=s=8192x4400:r=25:d=0.04", ...h264),
    ],
  ])("U4 %s is refused as %s", async (_, code, file) => {
    const refusal = await browserSays(file());
    expect(refusal?.code).toBe(code);
    expect(refusal?.message).toMatch(/\.$/);
    expect(refusal?.next).toMatch(/\.$/);
  });

  it.each([
    ["an MP4", film],
    ["an MP4 whose end is missing", () => write("half.mp4", readFileSync(film()).subarray(0, 2_000))],
    ["an AVI, which it can't read", () => make("film.avi", "testsrc2=s=64x64:r=25:d=1")],
    ["MPEG-2 in a transport stream", () => make("film.ts", "testsrc2=s=64x64:r=25:d=1")],
  ])("U4 %s goes on", async (_, file) => {
    expect(await browserSays(file())).toBeNull();
  });

  it("U4 the limit of length is the one that the server told", async () => {
    const file = film();
    expect(await browserSays(file, { ...defaultUploadLimits, durationSecondsMax: 2 })).toBeNull();
    const refusal = await browserSays(file, { ...defaultUploadLimits, durationSecondsMax: 1.9 });
    expect(refusal?.code).toBe("video-too-long");
  });

  it("U4 a file that was moved away meanwhile isn't refused: sending it will tell", async () => {
    const file = film();
    const blob = await openAsBlob(file);
    rmSync(file);
    expect(await lookInside(blob, defaultUploadLimits)).toBeNull();
  });
});

const corpus = path.join(import.meta.dirname, "../../../shared/corpus");
const corpusFiles = existsSync(corpus)
  ? readdirSync(corpus).filter((name) => !/\.(json|md)$/.test(name))
  : [];

describe.skipIf(corpusFiles.length === 0)("browser and admission", () => {
  let storage: TestStorage;
  let store: ObjectStore;
  beforeAll(async () => {
    storage = await startTestStorage();
    store = createObjectStore(storage);
  });
  afterAll(() => storage.stop());
  const probeScript = path.join(import.meta.dirname, "../../services/probe-process.ts");

  /** What admission says of the same bytes in storage; null where it takes them. */
  async function admissionSays(name: string, limits: UploadLimits): Promise<Refusal | null> {
    const upload = {
      key: `uploads/${name}`,
      contentType: "video/mp4",
      sizeBytes: statSync(path.join(corpus, name)).size,
      checksumSha256: null,
    };
    await store.putFile(upload.key, path.join(corpus, name), upload);
    const object = await store.head(upload.key);
    try {
      await checkObject({ store, probeScript }, upload, object!, limits);
      return null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { code: error.code, message: error.message, next: error.next };
    }
  }

  it.each(corpusFiles)("U4 U5 say the same of %s, also where a second is too long", async (name) => {
    for (const durationSecondsMax of [defaultUploadLimits.durationSecondsMax, 1]) {
      const limits = { ...defaultUploadLimits, durationSecondsMax };
      const blob = await openAsBlob(path.join(corpus, name));
      const file = { name: "film.mp4", type: "video/mp4", size: blob.size };
      const browser = earlyRefusal(file, limits) ?? (await lookInside(blob, limits));
      expect(browser).toEqual(await admissionSays(name, limits));
    }
  });
});
