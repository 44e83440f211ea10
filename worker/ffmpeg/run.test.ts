import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ffmpeg, testTools } from "../testing/media.ts";
import { type FfmpegProgress, progressReader } from "./progress.ts";
import { type RunHandle, run } from "./run.ts";
import { inputSandbox, inputUrl, isOffline } from "./tools.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reelkeep-run-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Never ends by itself, and tells its progress. */
const endless = ["-v", "error", "-nostats", "-progress", "pipe:1", "-re", "-f", "lavfi"];
const endlessArgs = [...endless, "-i", "testsrc2=size=32x32:rate=10", "-f", "null", "-"];

/** One that has ended but wasn't fetched by its parent (state Z) is dead. */
async function isAlive(pid: number): Promise<boolean> {
  let state = "";
  await run({ ...testTools, cage: [], ffmpeg: "ps" }, "ffmpeg", ["-o", "stat=", "-p", String(pid)], {
    onStdout: (chunk) => {
      state += chunk;
    },
  });
  return state.trim() !== "" && !state.trim().startsWith("Z");
}

/** A stand-in for a program that writes its pid and its child's, and ignores TERM. */
async function stubbornProgram(): Promise<{ path: string; pids: () => Promise<number[]> }> {
  const path = join(folder, "stubborn.sh");
  const pidFile = join(folder, "pids");
  const script = `#!/bin/sh
trap '' TERM
sleep 300 &
echo "$$ $!" > ${pidFile}
echo started
wait
sleep 300
`;
  await writeFile(path, script, { mode: 0o755 });
  return { path, pids: async () => (await readFile(pidFile, "utf8")).trim().split(" ").map(Number) };
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
    expect(names.toSorted()).toEqual(["AV_LOG_FORCE_NOCOLOR", "LC_ALL", "PATH"]);
  });

  it("J3 an abort ends it and its children, also when they ignore TERM", async () => {
    const { path, pids } = await stubbornProgram();
    const abort = new AbortController();
    const reason = new AppError("lease-lost");
    const running = run({ ...testTools, ffmpeg: path }, "ffmpeg", [], {
      signal: abort.signal,
      onStdout: () => abort.abort(reason),
    });
    await expect(running).rejects.toBe(reason);
    expect(await Promise.all((await pids()).map(isAlive))).toEqual([false, false]);
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
    const running = run(testTools, "ffmpeg", endlessArgs, { timeoutSeconds: 0.3 });
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

  it.skipIf(testTools.cage.length === 0)(
    "M1 it can read neither our environment nor our memory, where credentials are",
    async () => {
      for (const file of ["environ", "mem", "maps"]) {
        const read = await run({ ...testTools, ffmpeg: "head" }, "ffmpeg", [
          "-c1",
          `/proc/${process.pid}/${file}`,
        ]);
        expect(read).toMatchObject({
          exitCode: 1,
          stderrTail: expect.stringMatching(/denied|not permitted/),
        });
      }
    },
  );

  it.skipIf(!isOffline(testTools))("M1 it has no network", async () => {
    let interfaces = "";
    await run({ ...testTools, ffmpeg: "cat" }, "ffmpeg", ["/proc/net/route"], {
      onStdout: (chunk) => {
        interfaces += chunk;
      },
    });
    expect(interfaces.trim().split("\n")).toHaveLength(1);
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
    const { stderrTail } = await run(testTools, "ffprobe", args);
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
