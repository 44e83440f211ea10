/** `npm run transcode -- FILE --out DIR`: one file into verified HLS in a folder, without any service. */
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { AppError, toAppError } from "@reelkeep/core/errors";
import { defaultJobPolicy } from "@reelkeep/core/job/policy";
import { findProfile, hlsTsUhdV1, profileNames } from "@reelkeep/core/media/profile";
import { isResultName, masterName } from "@reelkeep/core/object-keys";
import { chooseEngine } from "./ffmpeg/choose-engine.ts";
import { findMediaTools } from "./ffmpeg/tools.ts";
import { openScratch } from "./scratch.ts";
import { directoryStore } from "./stages/directory-store.ts";
import type { EncodeProgress } from "./stages/encode-progress.ts";
import { watchForStall } from "./stall-watch.ts";
import { type TranscodeResult, transcodeFile } from "./transcode-file.ts";

const usage = `Usage: npm run transcode -- FILE --out DIR [--profile NAME] [--json]

Makes an HLS ladder of FILE in DIR: master.m3u8, a folder for each rendition, sound track and subtitles,
storyboard/ and poster-1.jpg to poster-3.jpg.
DIR is made when it's missing. A folder that holds an earlier result is replaced; any other content is refused.

  --profile NAME   ${profileNames.join(" or ")} (the first is the default)
  --json           prints exactly one JSON object to stdout
  --help           prints this

FFmpeg is taken from FFMPEG_PATH and FFPROBE_PATH, else from PATH.
Exit status: 0 completed, 2 rejected (FILE can't become a video), 1 failed, 64 wrong usage.
`;

/** As in sysexits.h: EX_USAGE. */
const usageStatus = 64;

interface Command {
  readonly file: string;
  readonly out: string;
  readonly profileName: string;
  readonly json: boolean;
}

class UsageError extends Error {}

function parseCommand(args: readonly string[]): Command | "help" {
  const { values, positionals } = readOptions(args);
  if (values.help) return "help";
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("Give exactly one FILE.");
  if (!values.out) throw new UsageError("Give the output folder with --out DIR.");
  return {
    file: resolve(callerFolder(), file),
    out: resolve(callerFolder(), values.out),
    profileName: values.profile ?? profileNames[0]!,
    json: values.json ?? false,
  };
}

/** `npm run` goes to the project's folder first, and says where it was called. */
const callerFolder = (): string =>
  (process.env.npm_lifecycle_event === "transcode" && process.env.INIT_CWD) || process.cwd();

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        out: { type: "string" },
        profile: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function transcode(command: Command, abort: AbortController): Promise<TranscodeResult> {
  const profile = findProfile(command.profileName);
  if (!profile) throw new UsageError(`There is no profile ${command.profileName}.`);
  const source = await stat(command.file).catch(() => null);
  if (!source?.isFile()) throw new UsageError(`${command.file} isn't a file.`);
  await requireFreeFolder(command.out);

  const { FFMPEG_PATH, FFPROBE_PATH, PATH } = process.env;
  const tools = await findMediaTools({ FFMPEG_PATH, FFPROBE_PATH, PATH });
  const { engine } = await chooseEngine(tools);
  await using scratch = await openScratch(join(tmpdir(), "reelkeep"), source.size);
  let isWriting = false;
  let moves = 0;
  using _ = watchForStall(
    () => moves,
    defaultJobPolicy.stallSeconds,
    () => abort.abort(new AppError("stalled")),
  );
  const showProgress = process.stderr.isTTY && !command.json;
  try {
    return await transcodeFile({
      tools,
      engine,
      profile,
      sourcePath: command.file,
      workFolder: scratch.folder,
      store: directoryStore(command.out),
      signal: abort.signal,
      onMove: () => {
        moves++;
      },
      // An earlier result goes only once the new file is known to be a video.
      onPlan: async () => {
        await removeResult(command.out);
        isWriting = true;
      },
      ...(showProgress ? { onProgress: drawProgress } : {}),
    });
  } catch (error) {
    // Half a result is none, and would be refused by the next run.
    if (isWriting) await removeResult(command.out);
    throw error;
  } finally {
    if (showProgress) process.stderr.write("\r\x1b[K");
  }
}

const rungNames = hlsTsUhdV1.rungs.map(({ name }) => name);

/** @throws UsageError when the folder holds anything that isn't ours to replace. */
async function requireFreeFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw new UsageError(`${folder} can't be used as a folder.`);
  });
  const foreign = names.find((name) => !isResultName(name, rungNames));
  if (foreign !== undefined || (names.length > 0 && !names.includes(masterName)))
    throw new UsageError(
      `${folder} isn't empty and doesn't hold an earlier result (${foreign ?? names[0]}).`,
    );
}

/** The playlist of playlists goes first: without it there is no result, only files. */
async function removeResult(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of [masterName, ...names.filter((found) => isResultName(found, rungNames))])
    await rm(join(folder, name), { recursive: true, force: true });
}

function drawProgress({ secondsDone, secondsTotal }: EncodeProgress): void {
  const share = secondsTotal > 0 ? Math.min(1, secondsDone / secondsTotal) : 0;
  const bar = "#".repeat(Math.round(share * 30)).padEnd(30, ".");
  process.stderr.write(`\r[${bar}] ${Math.round(share * 100)} %`);
}

function completed(result: TranscodeResult) {
  return {
    status: "completed",
    master: masterName,
    durationSeconds: Math.round(result.durationSeconds * 1000) / 1000,
    hasAudio: result.hasAudio,
    renditions: result.renditions.map((rendition) => ({
      name: rendition.name,
      width: rendition.width,
      height: rendition.height,
      bandwidth: rendition.bandwidth,
      codecs: rendition.codecs,
      segments: rendition.segmentCount,
      copied: rendition.isCopied,
    })),
  };
}

function describeResult(result: TranscodeResult, out: string): string {
  const sizes = result.renditions.map(({ name, width, height }) => `  ${name}: ${width}x${height}`);
  const sound = result.hasAudio ? "with sound" : "without sound";
  return [`${result.durationSeconds.toFixed(1)} s ${sound} in ${join(out, masterName)}`, ...sizes, ""].join(
    "\n",
  );
}

/** A permanent failure that lies in the file itself is a rejection. */
const isRejection = (error: AppError): boolean => !error.retryable && error.status === 422;

async function main(): Promise<number> {
  const abort = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => abort.abort(new Error(`ended by ${name}`)));
  let command: Command | "help" | undefined;
  try {
    command = parseCommand(process.argv.slice(2));
    if (command === "help") {
      process.stdout.write(usage);
      return 0;
    }
    const result = await transcode(command, abort);
    process.stdout.write(
      command.json ? `${JSON.stringify(completed(result))}\n` : describeResult(result, command.out),
    );
    return 0;
  } catch (thrown) {
    const json = command !== "help" && command?.json;
    if (thrown instanceof UsageError) {
      if (json) process.stdout.write(failure("failed", "invalid-request", thrown.message));
      process.stderr.write(`${thrown.message}\n\n${usage}`);
      return usageStatus;
    }
    const error = toAppError(thrown, "worker-failed");
    const status = isRejection(error) ? "rejected" : "failed";
    if (json) process.stdout.write(failure(status, error.code, error.message));
    else process.stderr.write(`${error.message} ${error.next} (${error.code})\n`);
    if (status === "failed" && error.cause instanceof Error) process.stderr.write(`${error.cause.message}\n`);
    return status === "rejected" ? 2 : 1;
  }
}

const failure = (status: "rejected" | "failed", code: string, message: string): string =>
  `${JSON.stringify({ status, code, message })}\n`;

process.exitCode = await main();
