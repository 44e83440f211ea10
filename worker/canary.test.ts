/**
 * M1: what people send opens no other file and no connection. A canary is a file that nobody may read (the kernel
 * notes when somebody does) and an address at which nobody may ask. Each trap meets each wall alone, too: the lists
 * of formats and protocols without a cage, and the cage without the lists.
 */
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { hlsTsV1 } from "@reelkeep/core/media/profile";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noCage } from "./ffmpeg/cage.ts";
import { posterLimits } from "./ffmpeg/limits.ts";
import { run } from "./ffmpeg/run.ts";
import { inputSandbox, inputUrl, type MediaTools } from "./ffmpeg/tools.ts";
import { ffmpeg, testTools, transcodeInto } from "./testing/media.ts";
import {
  assScript,
  aviWithSubtitles,
  type Bait,
  matroskaLinkedTo,
  movieOfAlias,
  movieOfUrl,
  movieReference,
  textTraps,
} from "./testing/traps.ts";

const secret = "canary-5f1c0b7e-not-for-anybody";
const profile = { ...hlsTsV1, rungs: [hlsTsV1.rungs[0]] } as const;
const uncaged: MediaTools = { ...testTools, cage: noCage };

let root: string;
let bait: Bait;
let server: Server;
let visitors = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "reelkeep-canary-"));
  await mkdir(join(root, "nobody"));
  const path = join(root, "nobody", "canary.ts");
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=32x32:duration=1", "-c:v", "libx264"];
  // Within the picture's own bytes, so that a copy of the stream has it too.
  const marked = ["-bsf:v", `h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+${secret}`];
  await ffmpeg(...picture, ...marked, path);
  server = createServer((socket) => {
    visitors++;
    socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  bait = { path, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/canary.ts` };
});
afterAll(async () => {
  server.close();
  await rm(root, { recursive: true, force: true });
});

interface Touched {
  readonly file: boolean;
  readonly address: boolean;
}

/**
 * What `work` touched. A time of reading before that of writing is renewed by every read: mount(8), relatime. A read
 * through the cage's read-only mounts isn't noted; there what the program says must not hold the secret.
 */
async function touchedBy(work: () => Promise<unknown>): Promise<Touched> {
  const longAgo = new Date("2001-01-01");
  await utimes(bait.path, longAgo, new Date());
  const before = visitors;
  await work();
  return {
    file: (await stat(bait.path)).atime.getTime() !== longAgo.getTime(),
    address: visitors > before,
  };
}

const nothing: Touched = { file: false, address: false };

/** A source by that name, in a folder of its own. */
async function trap(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await mkdtemp(join(root, "trap-")), name);
  await writeFile(path, content);
  return path;
}

/** What a careless program touches, and says: FFprobe and FFmpeg on the file, with or without our lists. */
async function open(
  tools: MediaTools,
  path: string,
  words: readonly string[],
): Promise<Touched & { said: string }> {
  let said = "";
  const touched = await touchedBy(async () => {
    said = await say(tools, path, words);
  });
  return { ...touched, said };
}

async function say(tools: MediaTools, path: string, words: readonly string[]): Promise<string> {
  let text = "";
  const onStdout = (chunk: string) => {
    text += chunk;
  };
  // A session that nobody sends would be waited for.
  const limits = {
    ...posterLimits,
    wallSeconds: (await readFile(path, "latin1")).startsWith("v=0") ? 1 : 60,
  };
  const options = { files: { read: [path] }, limits, onStdout };
  const show = ["-show_format", "-show_streams", "-show_programs", "-show_packets", "-show_data"];
  await run(tools, "ffprobe", ["-v", "error", ...words, ...show, inputUrl(path)], options).catch(
    unlessStalled,
  );
  const make = ["-map", "0", "-c", "copy", "-t", "2", "-f", "matroska", "-"];
  await run(
    tools,
    "ffmpeg",
    ["-v", "error", "-nostdin", ...words, "-i", inputUrl(path), ...make],
    options,
  ).catch(unlessStalled);
  return text;
}

function unlessStalled(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== "stalled") throw error;
}

/** What becomes of a source on the whole way: `video`, or the code of its refusal. No output may hold the secret. */
async function verdict(path: string, tools: MediaTools): Promise<string> {
  const folder = await mkdtemp(join(root, "out-"));
  try {
    await transcodeInto(folder, path, { tools, profile });
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable) throw error;
    expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(secret);
    return error.code;
  }
  expect(await readdir(join(folder, "out"))).toContain("master.m3u8");
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      expect(await readFile(join(entry.parentPath, entry.name), "latin1")).not.toContain(secret);
  return "video";
}

/**
 * The whole way and each wall alone: nothing is touched, and the outcome is always the same. `words` are what makes
 * FFmpeg careless enough for the trap.
 */
async function expectHarmless(path: string, outcome: string, words = careless): Promise<void> {
  const outcomes: string[] = [];
  for (const tools of [testTools, uncaged]) {
    const touched = await touchedBy(async () => outcomes.push(await verdict(path, tools)));
    expect(touched).toEqual(nothing);
  }
  expect(outcomes).toEqual([outcome, outcome]);
  const harmless = { ...nothing, said: expect.not.stringContaining(secret) };
  expect(await open(uncaged, path, [...words, ...inputSandbox])).toEqual(harmless);
  if (testTools.cage.confinesFiles) expect(await open(testTools, path, words)).toEqual(harmless);
}

/** All that FFmpeg has to be careless with. The last of equal options counts. */
const careless: readonly string[] = [
  "-protocol_whitelist",
  "file,pipe,crypto,data,concat,http,tcp,rtp,udp,rtsp",
];

describe("a text that is disguised as a video", () => {
  /** What FFmpeg alone would do, so that each trap is known to work. */
  const touches: Readonly<Record<string, Partial<Touched>>> = {
    "an HLS playlist that names a file": { file: true },
    "an HLS playlist that names an address": { address: true },
    "an HLS playlist whose key is a file": { file: true },
    "a DASH manifest that names a file": { file: true },
    "a DASH manifest that names an address": { address: true },
    "a concat script that names a file": { file: true },
    "a concat script that names an address": { address: true },
  };
  const saysSecret = [
    "an HLS playlist that names a file",
    "a DASH manifest that names a file",
    "a concat script that names a file",
  ];

  it.for(Object.keys(textTraps))("M1 %s reads nothing, asks nobody and is no video", async (name) => {
    const path = await trap("innocent.mp4", textTraps[name]!(bait));
    const words = name.includes("concat script") ? [...careless, "-safe", "0"] : careless;
    const { said, ...touched } = await open(uncaged, path, words);
    expect(touched).toEqual({ ...nothing, ...touches[name] });
    expect(said.includes(secret)).toBe(saysSecret.includes(name));
    await expectHarmless(path, "not-a-video", words);
  });
});

describe("a video that points elsewhere", () => {
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=10:duration=1"];
  const make = async (name: string, ...args: string[]): Promise<Buffer> => {
    const path = join(root, name);
    await ffmpeg(...picture, ...args, path);
    return readFile(path);
  };

  it("M1 an AVI with a playlist, or with fonts, in its subtitles is the video that it is", async () => {
    const avi = await make("plain.avi", "-c:v", "mpeg4");
    for (const name of ["an HLS playlist that names a file", "an HLS playlist that names an address"])
      await expectHarmless(await trap("x.avi", aviWithSubtitles(avi, textTraps[name]!(bait))), "video");
    await expectHarmless(await trap("x.avi", aviWithSubtitles(avi, assScript(bait))), "video");
  });

  it("M1 a movie whose samples lie in another file has no picture", async () => {
    const movie = await make("plain.mov", "-c:v", "libx264", "-pix_fmt", "yuv420p");
    for (const external of [movieOfUrl(movie, `file://${bait.path}`), movieOfUrl(movie, bait.url)])
      await expectHarmless(await trap("x.mov", external), "video");
    const alias = await trap("x.mov", movieOfAlias(movie, bait.path));
    const asked = ["-enable_drefs", "1", "-use_absolute_path", "1"];
    expect(await open(uncaged, alias, asked)).toMatchObject({ file: true });
    await expectHarmless(alias, "undecodable-video");
  });

  it("M1 a movie that is only the address of another is none", async () => {
    await expectHarmless(await trap("x.mov", movieReference(bait.url)), "no-video-track");
    await expectHarmless(await trap("x.mov", movieReference(`file://${bait.path}`)), "no-video-track");
  });

  it("M1 a Matroska file with attachments and with subtitles that ask for fonts is the video that it is", async () => {
    const script = join(root, "script.ass");
    await writeFile(script, assScript(bait));
    const font = ["-attach", script, "-metadata:s:t", "mimetype=application/x-truetype-font"];
    const film = await make("attached.mkv", "-i", script, "-map", "0", "-map", "1", "-c:s", "ass", ...font);
    await expectHarmless(await trap("x.mkv", film), "video");
  });

  it("M1 a Matroska file that goes on in another, by link and by chapter, is its own part alone", async () => {
    const film = await make("live.mkv", "-c:v", "libx264", "-f", "matroska", "-live", "1");
    await expectHarmless(await trap("x.mkv", matroskaLinkedTo(film, bait.path)), "video");
  });
});

describe("a name", () => {
  it.each([
    "-y.mp4",
    "concat:canary.ts",
    "http:x.mp4",
    "frame%03d.mp4",
    "pipe:0",
    "x,y;z'.mp4",
    "subfile,,start,0,end,9,,:x",
  ])("M1 %s means nothing", async (name) => {
    const source = await trap(name, "");
    await ffmpeg(
      "-f",
      "lavfi",
      "-i",
      "testsrc2=size=64x64:rate=10:duration=1",
      "-f",
      "mp4",
      inputUrl(source),
    );
    await expectHarmless(source, "video");
  });

  it("M1 a pattern of pictures is one picture, which is no video", async () => {
    const source = await trap("picture%d.jpg", "");
    const next = source.replace("%d", "1");
    await ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x64", "-frames:v", "1", "-update", "1", next);
    await writeFile(source, await readFile(next));
    await expectHarmless(source, "not-a-video");
  });
});
