import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@reelkeep/core/errors";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ffmpeg, testTools } from "../testing/media.ts";
import { type FfmpegProgress, progressReader } from "./progress.ts";
import { type RunHandle, run } from "./run.ts";
import { cages, inputSandbox, inputUrl, isOffline } from "./tools.ts";

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
  await run({ ...testTools, cage: [], ffmpeg: "ps" }, "ffmpeg", ["-eo", "stat=,args="], {
    onStdout: (chunk) => {
      list += chunk;
    },
  });
  return list.split("\n").filter((line) => line.includes(words) && !line.startsWith("Z"));
}

/** A program that nobody else starts, and that does nothing for long. */
const ourSleep = `sleep 300.0${process.pid}`;

/** A stand-in for a program that has a child, and ignores TERM. */
async function stubbornProgram(): Promise<string> {
  const path = join(folder, "stubborn.sh");
  await writeFile(path, `#!/bin/sh\ntrap '' TERM\n${ourSleep} &\necho started\nwait\nsleep 300\n`, {
    mode: 0o755,
  });
  return path;
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
      .map((line) => line.split("=")[0]!);
    /** What the cage's shell writes by itself. */
    const ofShell = ["PWD", "OLDPWD", "SHLVL", "_"];
    expect(names.filter((name) => !ofShell.includes(name)).toSorted()).toEqual([
      "AV_LOG_FORCE_NOCOLOR",
      "LC_ALL",
      "PATH",
    ]);
  });

  it("J3 an abort ends it and its children, also when they ignore TERM", async () => {
    const path = await stubbornProgram();
    const abort = new AbortController();
    const reason = new AppError("lease-lost");
    let seen: string[] = [];
    const ending = run({ ...testTools, ffmpeg: path }, "ffmpeg", [], {
      signal: abort.signal,
      onStdout: async () => {
        seen = await running(ourSleep);
        abort.abort(reason);
      },
    });
    await expect(ending).rejects.toBe(reason);
    expect(seen).toHaveLength(1);
    expect([...(await running(ourSleep)), ...(await running(path))]).toEqual([]);
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

  it.skipIf(process.platform !== "linux")(
    "J3 an abort ends what doesn't ask for TERM without waiting for KILL",
    { timeout: 4_000 },
    async () => {
      const abort = new AbortController();
      const reason = new AppError("lease-lost");
      const running = run({ ...testTools, ffmpeg: "sh" }, "ffmpeg", ["-c", "echo started; exec sleep 300"], {
        signal: abort.signal,
        onStdout: () => abort.abort(reason),
      });
      await expect(running).rejects.toBe(reason);
    },
  );
});

/** Which of the cages this system has; on none, the tests of each are skipped. */
const usableCages: (readonly string[])[] = [];
for (const cage of cages) if (await isUsable(cage)) usableCages.push(cage);

async function isUsable(cage: readonly string[]): Promise<boolean> {
  const ended = run({ ...testTools, cage, ffmpeg: "true" }, "ffmpeg", []);
  return ended.then(
    ({ exitCode }) => exitCode === 0,
    () => false,
  );
}

/** The user that we are, and where that is root an ordinary one too: the words that make a command another user's. */
const users: [string, readonly string[]][] = [["the same user", []]];
if (process.getuid?.() === 0)
  users.push(["an ordinary user", ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]]);

describe.each(usableCages.map((cage) => [cage.join(" "), cage] as const))("the cage %s", (_, cage) => {
  it.for(users)(
    "M1 it can read neither our environment nor our memory, where credentials are: %s",
    async ([, asUser], { skip }) => {
      /** Runs a command in a cage; in it `$$` is the pid of who starts that. */
      const startCaged = (cage: readonly string[], command: string) => {
        const script = `"$@" ${command}; exit $?`;
        return run({ ...testTools, cage: asUser, ffmpeg: "sh" }, "ffmpeg", ["-c", script, "sh", ...cage]);
      };
      if ((await startCaged(cage, "true")).exitCode !== 0) skip("not for this user");
      for (const file of ["environ", "mem", "maps"])
        expect(await startCaged(cage, `head -c1 /proc/$$/${file}`)).toMatchObject({
          exitCode: 1,
          stderrTail: expect.stringMatching(/denied|not permitted|No such file/),
        });
      expect(await startCaged([], "head -c1 /proc/$$/environ")).toMatchObject({ exitCode: 0 });
    },
  );

  it("M1 nothing that listens on this machine can be reached from it", async () => {
    let visitors = 0;
    const server = createServer((socket) => {
      visitors++;
      socket.destroy();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      await run({ ...testTools, cage }, "ffprobe", [url]);
      expect(visitors).toBe(0);
      await run({ ...testTools, cage: [] }, "ffprobe", [url]);
      expect(visitors).toBeGreaterThan(0);
    } finally {
      server.close();
    }
  });
});

describe("the best cage", () => {
  it.skipIf(!testTools.cage.includes("--pid"))(
    "M1 it can't signal us, and nothing that it starts is left behind",
    async () => {
      const script = `kill -0 ${process.pid} || echo refused; setsid ${ourSleep} >&- 2>&- & exit 0`;
      let said = "";
      await run({ ...testTools, ffmpeg: "sh" }, "ffmpeg", ["-c", script], {
        onStdout: (chunk) => {
          said += chunk;
        },
      });
      expect(said).toBe("refused\n");
      expect(await running(ourSleep)).toEqual([]);
    },
  );

  it.skipIf(usableCages.length === 0)("M1 it is the first that this system has", () => {
    const best = usableCages[0]!;
    expect(testTools.cage.slice(0, best.length)).toEqual(best);
    expect(isOffline(testTools)).toBe(true);
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
