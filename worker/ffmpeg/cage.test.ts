import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { testTools } from "../testing/media.ts";
import { type Cage, cagedCommand, cages, findCage, noCage, worksIn } from "./cage.ts";
import { type RunHandle, type RunOptions, run } from "./run.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reelkeep-cage-"));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a shell in the cage says, and how it ended. */
async function inCage(cage: Cage, script: string, options: RunOptions = {}) {
  let said = "";
  const result = await run({ ...testTools, cage, ffmpeg: "sh" }, "ffmpeg", ["-c", script], {
    ...options,
    onStdout: (chunk) => {
      said += chunk;
      options.onStdout?.(chunk);
    },
  });
  return { ...result, said };
}

const usable: [string, Cage][] = [];
for (const cage of cages)
  if (await worksIn(cage, testTools.path, ["true"])) usable.push([cage.words.join(" "), cage]);
const nameOf = (words: string) => words.replace(/--ro-bind-try \S+ \S+ /g, "");

describe.each(usable.map(([words, cage]) => [nameOf(words), cage] as const))("the cage %s", (_, cage) => {
  it.skipIf(!cage.isOffline)(
    "M1 it can read neither our environment nor our memory, where credentials are",
    async () => {
      for (const file of ["environ", "mem", "maps"])
        expect(await inCage(cage, `head -c1 /proc/${process.pid}/${file}`)).toMatchObject({
          exitCode: 1,
          stderrTail: expect.stringMatching(/denied|not permitted|No such file/),
        });
    },
  );

  it.skipIf(!cage.isOffline)("M1 nothing that listens on this machine can be reached from it", async () => {
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
      await run({ ...testTools, cage: noCage }, "ffprobe", [url]);
      expect(visitors).toBeGreaterThan(0);
    } finally {
      server.close();
    }
  });

  it("J3 it can be paused and goes on", async () => {
    const file = join(folder, `ticks-${usable.findIndex(([, other]) => other === cage)}`);
    await mkdir(file);
    const ticks = async () => (await readFile(join(file, "ticks"), "utf8").catch(() => "")).length;
    const abort = new AbortController();
    let handle: RunHandle | undefined;
    const running = inCage(cage, "while :; do printf x >> ticks; sleep 0.01; done", {
      signal: abort.signal,
      cwd: file,
      files: { write: [file] },
      onStart: (started) => {
        handle = started;
      },
    });
    running.catch(() => {});
    await vi.waitFor(async () => expect(await ticks()).toBeGreaterThan(3));
    handle!.pause();
    await vi.waitFor(async () => {
      const before = await ticks();
      await delay(100);
      expect(await ticks()).toBe(before);
    });
    const paused = await ticks();
    handle!.resume();
    await vi.waitFor(async () => expect(await ticks()).toBeGreaterThan(paused));
    abort.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
  });

  it("J3 what ends it by a signal is told by its exit code", async () => {
    expect(await inCage(cage, "kill -SEGV $$")).toMatchObject({ exitCode: 139 });
    expect(await inCage(cage, "exit 69")).toMatchObject({ exitCode: 69 });
  });
});

describe.skipIf(!testTools.cage.confinesFiles)("the best cage", () => {
  const { cage } = testTools;

  it("M1 it sees the files of its call alone", async () => {
    const [source, work] = [join(folder, "source.mp4"), join(folder, "work")];
    await writeFile(source, "source");
    await writeFile(join(folder, "canary"), "secret");
    await mkdir(work);
    const files = { read: [source], write: [work] };
    const see = (script: string) => inCage(cage, script, { files, cwd: work });

    expect((await see(`cat ${source}`)).said).toBe("source");
    expect((await see(`ls ${folder}`)).said).toBe("source.mp4\nwork\n");
    for (const path of [join(folder, "canary"), "/etc/passwd", "/etc/hostname", "/proc/self/environ", "/sys"])
      expect(await see(`cat ${path}`)).toMatchObject({
        said: "",
        stderrTail: expect.stringMatching(/No such file/),
      });
    expect((await see("ls / /root /home /var /tmp 2>/dev/null")).said).not.toMatch(/package|ssh|log/);
  });

  it("M1 it writes to its work folder and nowhere else, not even to the source within that", async () => {
    const work = await mkdtemp(join(folder, "work-"));
    const source = join(work, "source.mp4");
    await writeFile(source, "source");
    const write = (path: string) =>
      inCage(cage, `echo x > ${path}`, { files: { read: [source], write: [work] }, cwd: work });

    expect((await write("made")).exitCode).toBe(0);
    for (const path of [
      source,
      join(folder, "made"),
      "/made",
      "/tmp/made",
      "/dev/made",
      "/dev/shm/made",
      "/usr/bin/made",
    ])
      expect((await write(path)).exitCode, path).not.toBe(0);
    expect((await readdir(work)).toSorted()).toEqual(["made", "source.mp4"]);
    expect(await readFile(source, "utf8")).toBe("source");
  });

  it("M1 it can signal nobody, and nothing that it starts is left behind", async () => {
    const script = `kill -0 ${process.pid} 2>&1 | grep -c 'No such process'; setsid sh -c 'sleep 300.1' >&- 2>&- & exit 0`;
    expect((await inCage(cage, script)).said).toBe("1\n");
    const list = await run({ ...testTools, cage: noCage, ffmpeg: "pgrep" }, "ffmpeg", [
      "-f",
      "^sleep 300[.]1$",
    ]);
    expect(list.exitCode).toBe(1);
  });

  it("M1 it has no capabilities and makes no namespaces of its own", async () => {
    const ways = ["unshare --user true", "unshare --mount true", "mount -t tmpfs none /usr/bin"];
    for (const way of ways)
      expect((await inCage(cage, `${way} 2>&1 || echo refused`)).said).toMatch(/refused\n$/);
  });

  it("M1 where it can't be made, that is our failure and says nothing of the file", async () => {
    const running = inCage(cage, "true", { files: { write: [join(folder, "missing")] } });
    await expect(running).rejects.toMatchObject({ code: "worker-failed", retryable: true });
  });
});

describe("the choice of a cage", () => {
  it("M1 it is the first that this system has", async () => {
    const first = usable[0]?.[1] ?? noCage;
    expect(testTools.cage.words).toEqual(first.words);
  });

  it("M1 a program that lies elsewhere is seen with its libraries", async () => {
    const bin = join(folder, "own/bin");
    await mkdir(bin, { recursive: true });
    await mkdir(join(folder, "own/lib"));
    await writeFile(join(folder, "own/lib/name"), "own\n");
    const program = join(bin, "ffmpeg");
    await writeFile(program, `#!/bin/sh\nread name < ${folder}/own/lib/name && echo "$name"\n`, {
      mode: 0o755,
    });
    expect((await findCage(testTools.path, [program])).words).toEqual(testTools.cage.words);
  });

  it("M1 a cage in which FFmpeg doesn't start isn't taken", async () => {
    const program = join(folder, "needs-more");
    await writeFile(program, `#!/bin/sh\ntest -e /etc/passwd\n`, { mode: 0o755 });
    expect((await findCage(testTools.path, [program])).confinesFiles).toBe(false);
  });

  it("M1 a cage that confines nothing is asked for nothing", () => {
    expect(cagedCommand(noCage, { read: ["/x"], write: ["/y"] }, "/y", ["ffmpeg"])).toEqual(["ffmpeg"]);
  });
});
