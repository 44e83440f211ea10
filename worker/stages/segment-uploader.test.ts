import { readdirSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { watchForStall } from "../stall-watch.ts";
import { ffmpeg, testTools, transcodeInto } from "../testing/media.ts";
import type { TranscodeOptions } from "../transcode-file.ts";
import { directoryStore } from "./directory-store.ts";
import type { OutputStore } from "./output-store.ts";

let root: string;
let source: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-faults-"));
  source = join(root, "source.mp4");
  await ffmpeg(
    ...[
      "-f",
      "lavfi",
      "-i",
      "testsrc2=size=160x90:rate=25:duration=13",
      "-f",
      "lavfi",
      "-i",
      "sine=duration=13",
    ],
    ...["-c:v", "libx264", "-preset", "ultrafast", source],
  );
});
afterEach(() => rm(root, { recursive: true, force: true }));

const out = () => join(root, "out");
const store = () => directoryStore(out());
const withPut = (put: OutputStore["put"]): OutputStore => ({ ...store(), put });

/** With a watchdog of two seconds, as a job has one. */
async function transcodeWatched(options: Partial<TranscodeOptions>) {
  const abort = new AbortController();
  let moves = 0;
  using _ = watchForStall(
    () => moves,
    2,
    () => abort.abort(new AppError("stalled")),
  );
  const onMove = () => {
    moves++;
  };
  return await transcodeInto(root, source, { ...options, signal: abort.signal, onMove });
}

describe("storage that fails", () => {
  it("M5 what may succeed later is tried again", async () => {
    const tries = new Map<string, number>();
    const shaky = withPut((name, ...rest) => {
      tries.set(name, (tries.get(name) ?? 0) + 1);
      if (tries.get(name) === 1) throw new AppError("storage-unavailable");
      return store().put(name, ...rest);
    });
    const result = await transcodeInto(root, source, { store: shaky });
    expect(result.inventory.length).toBeGreaterThan(6);
    expect([...tries.values()].every((count) => count === 2)).toBe(true);
  });

  it("M5 what can't succeed ends the encoder, and scratch is empty", async () => {
    const refusing = withPut(() => {
      throw new AppError("forbidden");
    });
    await expect(transcodeInto(root, source, { store: refusing })).rejects.toMatchObject({
      code: "forbidden",
    });
    expect(await readdir(join(root, "scratch"))).toEqual([]);
  });

  it("M7 a confirmation of another size isn't believed", async () => {
    const lossy = withPut(async (name, ...rest) => ({ ...(await store().put(name, ...rest)), sizeBytes: 1 }));
    await expect(transcodeInto(root, source, { store: lossy })).rejects.toMatchObject({
      code: "verification-failed",
    });
  });

  it("J3 an abort stops encoder and uploads with its own reason", async () => {
    const abort = new AbortController();
    const reason = new AppError("lease-lost");
    const running = transcodeInto(root, source, {
      signal: abort.signal,
      onSegmentStored: () => abort.abort(reason),
    });
    await expect(running).rejects.toBe(reason);
    const before = await readdir(out(), { recursive: true });
    expect(before.some((name) => name.endsWith(".m3u8"))).toBe(false);
  });

  it("J12 an encoder that stands still ends as stalled", async () => {
    const storesNothing = withPut(() => new Promise(() => {}));
    await expect(transcodeWatched({ store: storesNothing })).rejects.toMatchObject({
      code: "stalled",
      retryable: true,
    });
  });

  it("J12 an encoder that goes on talking and gets nowhere ends as stalled", async () => {
    const talker = join(root, "talker.sh");
    const block = "frame=1\\nout_time_us=40000\\nprogress=continue\\n";
    await writeFile(talker, `#!/bin/sh\nwhile true; do printf '${block}'; sleep 0.1; done\n`, {
      mode: 0o755,
    });
    const tools = { ...testTools, ffmpeg: talker };
    await expect(transcodeWatched({ tools })).rejects.toMatchObject({ code: "stalled", retryable: true });
  });

  it("M5 local segments are deleted once storage has them", async () => {
    let left: string[] | undefined;
    await transcodeInto(root, source, {
      onSegmentStored: () => {
        left = readdirSync(join(root, "scratch"), { recursive: true, encoding: "utf8" });
      },
    });
    expect(left).toContainEqual(expect.stringMatching(/240p$/));
    expect(left?.filter((name) => name.endsWith(".ts"))).toEqual([]);
  });
});
