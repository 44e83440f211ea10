import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EncodePlan } from "../stages/plan.ts";
import { ffmpeg, testTools } from "../testing/media.ts";
import { noCage } from "./cage.ts";
import { encodeLimits, isHeldByMachine, probeLimits } from "./limits.ts";
import { type FfmpegProgress, progressReader } from "./progress.ts";
import { type RunHandle, run } from "./run.ts";
import { inputSandbox, inputUrl } from "./tools.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reelkeep-run-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Never ends by itself, and tells its progress. */
const endless = ["-v", "error", "-nostats", "-progress", "pipe:1", "-re", "-f", "lavfi"];
const endlessArgs = [...endless, "-i", "testsrc2=size=32x32:rate=10", "-f", "null", "-"];

/** The programs of this machine with these words; one that has ended but wasn't fetched by its parent (Z) is gone. */
async function running(words: string): Promise<string[]> {
  let list = "";
  await run({ ...testTools, cage: noCage, ffmpeg: "ps" }, "ffmpeg", ["-eo", "stat=,args="], {
    onStdout: (chunk) => {
      list += chunk;
    },
  });
  return list.split("\n").filter((line) => line.includes(words) && !line.startsWith("Z"));
}

/** A stand-in for a program that has a child, and ignores TERM; and the words that nobody else starts a program with. */
async function stubbornProgram(): Promise<{ path: string; child: string }> {
  const path = join(folder, "stubborn.sh");
  const child = `sleep 300.0${process.pid}`;
  await writeFile(path, `#!/bin/sh\ntrap '' TERM\n${child} &\necho started\nwait\nsleep 300\n`, {
    mode: 0o755,
  });
  return { path, child };
}

describe("running FFmpeg", () => {
  it("M1 nothing of our environment reaches it", async () => {
    let seen = "";
    const tools = { ...testTools, ffmpeg: "env" };
    await run(tools, "ffmpeg", [], {
      onStdout: (chunk) => {
        seen += chunk;
      },
    });
    const names = seen
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    // The folder that bubblewrap goes to is one of ours.
    expect(names.filter((name) => name !== "PWD").toSorted()).toEqual([
      "AV_LOG_FORCE_NOCOLOR",
      "LC_ALL",
      "PATH",
    ]);
  });

  it("J3 an abort ends it and its children, also when they ignore TERM", async () => {
    const { path, child } = await stubbornProgram();
    const abort = new AbortController();
    const reason = new AppError("lease-lost");
    let seen: string[] = [];
    const ending = run({ ...testTools, ffmpeg: path }, "ffmpeg", [], {
      signal: abort.signal,
      onStdout: async () => {
        seen = await running(child);
        abort.abort(reason);
      },
    });
    await expect(ending).rejects.toBe(reason);
    expect(seen).toHaveLength(1);
    expect([...(await running(child)), ...(await running(path))]).toEqual([]);
  });

  it("J3 one that is paused ends on abort too", async () => {
    const abort = new AbortController();
    let handle: RunHandle | undefined;
    const running = run(testTools, "ffmpeg", endlessArgs, {
      signal: abort.signal,
      onStart: (started) => {
        handle = started;
      },
      onStdout: () => {
        handle?.pause();
        abort.abort(new AppError("job-cancelled"));
      },
    });
    await expect(running).rejects.toMatchObject({ code: "job-cancelled" });
  });

  it("J3 an abort before the start starts nothing", async () => {
    const signal = AbortSignal.abort(new AppError("lease-lost"));
    await expect(run(testTools, "ffmpeg", endlessArgs, { signal })).rejects.toMatchObject({
      code: "lease-lost",
    });
  });

  it("J12 one that takes too long ends as stalled", async () => {
    const running = run(testTools, "ffmpeg", endlessArgs, {
      limits: { ...probeLimits, wallSeconds: 0.3 },
    });
    await expect(running).rejects.toMatchObject({ code: "stalled", retryable: true });
  });

  it("M5 what is kept of its log stays small", async () => {
    const path = join(folder, "chatty.sh");
    await writeFile(
      path,
      '#!/bin/sh\nyes "a long line of complaints" | head -c 3000000 >&2\necho last >&2\nexit 3\n',
      {
        mode: 0o755,
      },
    );
    const { exitCode, stderrTail } = await run({ ...testTools, ffmpeg: path }, "ffmpeg", []);
    expect(exitCode).toBe(3);
    expect(stderrTail.length).toBeLessThanOrEqual(8192);
    expect(stderrTail).toMatch(/last\n$/);
  });
});

describe.skipIf(!testTools.hasLimits)("the limits of one run", () => {
  const limits = { ...probeLimits, fileBytes: 2 ** 20 };
  const busy = ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=60"];
  const inFolder = () => ({ cwd: folder, files: { write: [folder] } });

  it("M1 one that takes too much processor time ends for good", async () => {
    const running = run(testTools, "ffmpeg", [...busy, "-f", "null", "-"], {
      limits: { ...limits, cpuSeconds: 1 },
    });
    await expect(running).rejects.toMatchObject({
      ...{ code: "too-demanding", retryable: false },
      details: { limit: "processor" },
    });
  });

  it("M1 one that takes too much memory ends for good", async () => {
    const large = ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=7680x4320", "-frames:v", "30"];
    const running = run(testTools, "ffmpeg", [...large, "-c:v", "libx264", "-f", "null", "-"], {
      limits: { ...limits, memoryBytes: 2 ** 28 },
    });
    await expect(running).rejects.toMatchObject({
      ...{ code: "too-demanding", retryable: false },
      details: { limit: "memory" },
    });
  });

  it("M9 a memory limit that the machine sets says nothing of the file", () => {
    expect(isHeldByMachine({ ...limits, memoryBytes: totalmem() })).toBe(true);
    expect(isHeldByMachine({ ...limits, memoryBytes: 2 ** 28 })).toBe(false);
  });

  it("M1 one that writes too large a file ends for good", async () => {
    const running = run(testTools, "ffmpeg", [...busy, "-y", "-f", "rawvideo", "large.yuv"], {
      ...inFolder(),
      limits,
    });
    await expect(running).rejects.toMatchObject({
      ...{ code: "too-demanding", retryable: false },
      details: { limit: "file size" },
    });
    expect((await stat(join(folder, "large.yuv"))).size).toBeLessThanOrEqual(limits.fileBytes);
  });

  it("M1 it is nicer than we are, opens few files and leaves no core", async () => {
    const script = 'echo "$(nice) $(ulimit -n) $(ulimit -c)"';
    let said = "";
    await run({ ...testTools, ffmpeg: "sh" }, "ffmpeg", ["-c", script], {
      limits,
      onStdout: (chunk) => {
        said += chunk;
      },
    });
    expect(said).toBe("10 512 0\n");
  });

  it("M5 a longer or larger video may take more, and a picture of 8K more memory than one of 1080p", () => {
    const of = (side: number, expectedSeconds: number) =>
      encodeLimits(
        {
          video: { coded: { width: side * 2, height: side }, frameRate: 30 },
          renditions: [],
          frameRate: 30,
          expectedSeconds,
        } as unknown as EncodePlan,
        1e9,
      );
    expect(of(1080, 12 * 3600).cpuSeconds).toBeGreaterThan(12 * 3600);
    expect(of(4320, 60).cpuSeconds).toBeGreaterThan(of(1080, 60).cpuSeconds);
    expect(of(4320, 60).memoryBytes).toBeGreaterThan(of(1080, 60).memoryBytes);
  });
});

describe("the sandbox for what people send", () => {
  /** Files that name another file, `secret.ts` beside them; each lies there under a harmless name. */
  const traps: [string, string][] = [
    ["an HLS playlist", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsecret.ts\n#EXT-X-ENDLIST\n"],
    ["a concat script", "ffconcat version 1.0\nfile 'secret.ts'\n"],
  ];

  /** The files that FFprobe opens for the trap, by its own account. */
  async function openedBy(trap: string, sandbox: readonly string[]): Promise<string[]> {
    const args = ["-v", "debug", ...sandbox, "-show_packets", inputUrl(trap)];
    const { stderrTail } = await run(testTools, "ffprobe", args, { files: { read: [folder] } });
    const opened = [...stderrTail.matchAll(/Opening '([^']*)'/g)].map(([, name]) => basename(name!));
    return [...new Set(opened)];
  }

  it.each(traps)("M1 %s reads nothing else, though FFmpeg by itself would", async (_, content) => {
    const secret = ["-f", "lavfi", "-i", "testsrc2=size=32x32:duration=1", "-c:v", "mpeg2video"];
    await ffmpeg(...secret, join(folder, "secret.ts"));
    const trap = join(folder, "innocent.mp4");
    await writeFile(trap, content);
    expect(await openedBy(trap, [])).toContain("secret.ts");
    expect(await openedBy(trap, inputSandbox)).toEqual(["innocent.mp4"]);
  });

  it("M1 a name is only ever a file", async () => {
    for (const name of ["http://127.0.0.1:9/x.mp4", "concat:a|b", "-version"]) {
      const { exitCode, stderrTail } = await run(testTools, "ffprobe", [...inputSandbox, inputUrl(name)]);
      expect(exitCode).not.toBe(0);
      expect(stderrTail).toContain("No such file");
    }
  });
});

describe("FFmpeg's progress", () => {
  const text =
    "frame=0\nout_time_us=N/A\nprogress=continue\nframe=30\nout_time_us=1000000\nspeed=2x\nprogress=continue\n" +
    "frame=60\nout_time_us=2000000\nprogress=end\n";
  const expected: FfmpegProgress[] = [
    { outTimeSeconds: null, frame: 0, ended: false },
    { outTimeSeconds: 1, frame: 30, ended: false },
    { outTimeSeconds: 2, frame: 60, ended: true },
  ];

  it("U8 is read the same however its text is cut into chunks", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (lengths) => {
        const seen: FfmpegProgress[] = [];
        const read = progressReader((progress) => seen.push(progress));
        for (let offset = 0, i = 0; offset < text.length; offset += lengths[i++ % lengths.length]!)
          read(text.slice(offset, offset + lengths[i % lengths.length]!));
        expect(seen).toEqual(expected);
      }),
    );
  });

  it("U8 arrives while FFmpeg runs", async () => {
    const abort = new AbortController();
    const read = progressReader(({ frame }) => {
      if ((frame ?? 0) > 0) abort.abort(new Error("seen"));
    });
    const running = run(testTools, "ffmpeg", endlessArgs, { signal: abort.signal, onStdout: read });
    await expect(Promise.race([running, delay(20_000)])).rejects.toThrow("seen");
  });
});
