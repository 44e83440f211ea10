import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Actor } from "@reelkeep/core/access/policy";
import type { VideoContainer } from "@reelkeep/core/upload/signature";
import { findJob } from "@reelkeep/db/jobs";
import { createTestDatabase, type TestDatabase } from "@reelkeep/local/testing/database";
import { startTestStorage, type TestStorage } from "@reelkeep/local/testing/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completeUpload } from "./admit-upload.ts";
import { probeObject } from "./probe-object.ts";
import { createActor, createTestContext, sendFile, type TestContext } from "./testing/context.ts";
import { endlessOffsets, hugeFragment, hugeSampleTable } from "./testing/hostile-mp4.ts";

let database: TestDatabase;
let storage: TestStorage;
let context: TestContext;
let creator: Actor;
const folder = mkdtempSync(path.join(tmpdir(), "reelkeep-probe-"));

beforeAll(async () => {
  database = await createTestDatabase();
  storage = await startTestStorage();
  context = createTestContext(database.url, storage);
  creator = await createActor(context);
});
afterAll(async () => {
  await context.close();
  await storage.stop();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Makes a video with FFmpeg. */
function video(name: string, picture: string, ...args: string[]): Buffer {
  const file = path.join(folder, name);
  const input = ["-v", "error", "-y", "-f", "lavfi", "-i", picture];
  execFileSync(process.env.FFMPEG_PATH || "ffmpeg", [...input, "-pix_fmt", "yuv420p", ...args, file]);
  return readFileSync(file);
}
const h264 = ["-c:v", "libx264", "-preset", "ultrafast"];

async function store(body: Uint8Array) {
  const file = path.join(folder, randomUUID());
  const key = `uploads/${randomUUID()}`;
  writeFileSync(file, body);
  const { etag } = await context.store.putFile(key, file, { contentType: "video/mp4" });
  return { key, etag, sizeBytes: body.length };
}

/** Probes real bytes in real storage, and says how many were read, in how many requests. */
async function probe(body: Uint8Array, container: VideoContainer = "mp4", limitMs?: number) {
  let bytesRead = 0;
  let requests = 0;
  const needs = {
    probeScript: context.probeScript,
    store: {
      async readRange(...range: Parameters<typeof context.store.readRange>) {
        const bytes = await context.store.readRange(...range);
        bytesRead += bytes.length;
        requests++;
        return bytes;
      },
    },
  };
  const facts = await probeObject(needs, { ...(await store(body)), container }, limitMs);
  return { facts, bytesRead, requests };
}
const unknown = { durationSeconds: null, width: null, height: null, hasVideo: null };

describe("the probe", () => {
  it("U5 tells an MP4's facts from a part of it, though its index lies at the end", async () => {
    const body = video("end.mp4", "testsrc2=s=640x360:r=25:d=10", ...h264, "-qp", "0");
    expect(body.subarray(36, 64).toString("latin1")).not.toContain("moov");
    const { facts, bytesRead } = await probe(body);
    expect(facts).toEqual({ durationSeconds: 10, width: 640, height: 360, hasVideo: true });
    expect(bytesRead).toBeLessThan(body.length / 2);
  });

  it.each([
    ["WebM", "matroska", "facts.webm", ["-c:v", "libvpx", "-deadline", "realtime"]],
    ["a fragmented MP4", "mp4", "fragments.mp4", [...h264, "-movflags", "frag_keyframe+empty_moov"]],
    ["MPEG-TS", "mpeg-ts", "facts.ts", [...h264, "-output_ts_offset", "3600"]],
  ] as const)("U5 tells the facts of %s", async (_what, container, name, args) => {
    const { facts } = await probe(video(name, "testsrc2=s=320x180:r=25:d=2", ...args), container);
    expect(facts).toEqual({
      durationSeconds: expect.closeTo(2, 1),
      width: 320,
      height: 180,
      hasVideo: true,
    });
  });

  it("U5 asks storage a few times, not once a packet", async () => {
    const body = video("packets.ts", "testsrc2=s=640x360:r=25:d=2", ...h264, "-qp", "0");
    const { requests } = await probe(body, "mpeg-ts");
    expect(body.length / 188).toBeGreaterThan(1000);
    expect(requests).toBeLessThan(20);
  });

  it("U5 says that there is no picture where there is only sound", async () => {
    const { facts } = await probe(video("sound.mp4", "sine=d=1"));
    expect(facts).toEqual({ ...unknown, hasVideo: false });
  });

  it.each([
    ["a fragment", hugeFragment],
    ["a sample table", hugeSampleTable],
  ])("U5 %s of four thousand million samples ends as unknown, and this process lives", async (_, body) => {
    expect((await probe(body)).facts).toEqual(unknown);
  });

  it("U5 a file that keeps the reader busy is given up at the limit, and so is one that waits behind it", async () => {
    const looks = Array.from({ length: 4 }, () => probe(endlessOffsets, "mp4", 1500));
    for (const { facts } of await Promise.all(looks)) expect(facts).toEqual(unknown);
    const body = video("after.mp4", "testsrc2=s=320x180:r=25:d=1", ...h264);
    expect((await probe(body)).facts.hasVideo).toBe(true);
  });

  it("U5 a playlist named .mp4 makes it ask nobody", async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXTINF:4,", `http://127.0.0.1:${port}/1.ts`];
    expect((await probe(Buffer.from(`${lines.join("\n")}\n#EXT-X-ENDLIST\n`))).facts).toEqual(unknown);
    expect(requests).toBe(0);
    server.close();
  });

  it("U5 another object in the file's place is told, and not taken for a file that can't be read", async () => {
    const object = await store(hugeFragment);
    const probed = probeObject(context, { ...object, etag: "0".repeat(32), container: "mp4" });
    await expect(probed).rejects.toEqual(expect.objectContaining({ code: "source-changed" }));
  });
});

describe("admission", () => {
  it.each([
    ["too long", "video-too-long", "long.mp4", "color=s=64x64:r=1/3600:d=46800"],
    ["too big", "video-too-big", "big.mp4", "color=s=8192x4400:r=25:d=0.04"],
  ])(
    "U5 U6 a video that is %s is rejected as %s before any worker is paid for",
    async (_, code, name, picture) => {
      const upload = await sendFile(context, creator, video(name, picture, ...h264));
      const answer = await completeUpload(context, creator, upload.actionKey);
      expect(answer).toMatchObject({ status: "rejected", failure: { code } });
      expect(await findJob(context.db, upload.actionKey)).toBeNull();
    },
  );

  it("U5 a file that the probe can't survive is admitted, and ffprobe decides", async () => {
    const upload = await sendFile(context, creator, hugeFragment);
    const answer = await completeUpload(context, creator, upload.actionKey);
    expect(answer.status).toBe("file-processing-ready");
  });
});
