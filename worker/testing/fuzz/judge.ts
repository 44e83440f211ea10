/** What must hold whatever a file is: judged from outside, by programs that share nothing with ours. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { AppError, errorInfo } from "@reelkeep/core/errors";
import { parse } from "hls-parser";
import { testTools } from "../media.ts";

const execFileAsync = promisify(execFile);

/** Sentences beside the table's that a refusal may have: ours, with a number or a kind of file in them. */
const ownSentences = [
  /^Dolby Vision profile \d+ can't be shown in right colours\.$/,
  /^This isn't a video file\. It looks like an? [\w -]+\.$/,
  /^This isn't a video file of a known kind\.$/,
];
/** Paths, addresses in memory, and FFmpeg's ways to speak. */
const foreignText = /[/\\]|0x[0-9a-f]{4}|ffmpeg|ffprobe|Invalid data|bwrap|Error /i;

/** What is wrong with how a refusal is told; null when nothing is. */
export function judgeRefusal(error: unknown): string | null {
  if (!(error instanceof AppError))
    return `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  if (error.retryable) return `blames us (${error.code}): ${String(error.cause)}`;
  const said =
    error.message === errorInfo(error.code).message || ownSentences.some((own) => own.test(error.message));
  if (!said) return `says "${error.message}"`;
  const details = Object.values(error.details ?? {}).join(" ");
  return foreignText.test(details) ? `has details that aren't ours: ${details}` : null;
}

/** What is wrong with an output; null when every listed segment is there and everything decodes. */
export async function judgeOutput(folder: string): Promise<string | null> {
  const read = async (name: string) => parse(await readFile(join(folder, name), "utf8"));
  const master = await read("master.m3u8");
  if (!master.isMasterPlaylist) return "master.m3u8 is no multivariant playlist";
  const sounds = master.variants.flatMap(({ audio }) => audio.map(({ uri }) => uri ?? ""));
  const names = new Set([...master.variants.map(({ uri }) => uri), ...sounds]);
  if (names.size === 0) return "master.m3u8 lists nothing";
  for (const name of names) {
    const playlist = await read(name);
    if (playlist.isMasterPlaylist || !playlist.endlist || playlist.segments.length === 0)
      return `${name} isn't a whole media playlist`;
    const segments: Buffer[] = [];
    for (const { uri } of playlist.segments) {
      const bytes = await readFile(join(folder, dirname(name), uri)).catch(() => null);
      if (!bytes?.length) return `${name} lists ${uri}, which isn't there`;
      segments.push(bytes);
    }
    const joined = join(folder, `${dirname(name)}.joined`);
    await writeFile(joined, Buffer.concat(segments));
    const problem = await decode(joined);
    if (problem) return `${name} doesn't decode: ${problem}`;
  }
  return null;
}

/** The format is told, because FFmpeg takes a few packets alone for another one. */
async function decode(path: string): Promise<string> {
  const args = ["-v", "error", "-nostdin", "-xerror", "-f", "mpegts", "-i", path, "-f", "null", "-"];
  const failed = (error: Error) => ({ stderr: error.message });
  const { stderr } = await execFileAsync(testTools.ffmpeg, args).catch(failed);
  // Of the null output, about frames that are closer together than its clock.
  return stderr.replace(/^.*non monotonically increasing dts.*\n( *Last message repeated.*\n)?/gm, "").trim();
}

/** What a case left behind; null for nothing. `folder` is its own, `scratch` what was to be empty again. */
export async function judgeLeftovers(folder: string, scratch: string): Promise<string | null> {
  const left = await readdir(scratch).catch(() => []);
  if (left.length > 0) return `left in scratch: ${left.join(", ")}`;
  if (process.platform !== "linux") return null;
  const running = readdirSync("/proc").filter(
    (pid) => /^\d+$/.test(pid) && commandLine(pid).includes(folder),
  );
  return running.length > 0
    ? `left running: ${commandLine(running[0]!).replaceAll("\0", " ").slice(0, 200)}`
    : null;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
