/** The FFmpeg programs in use, and the cage that they run in. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { AppError } from "@reelkeep/core/errors";

const execFileAsync = promisify(execFile);

/** How FFmpeg is started: paths or names looked up in PATH, and the words put before every command. */
export interface MediaTools {
  readonly ffmpeg: string;
  readonly ffprobe: string;
  /**
   * A command that takes the network and our secrets away and ends what it runs when its parent is killed, e.g.
   * `["unshare", "--user", "--net", "setpriv", "--no-new-privs", "--pdeathsig", "KILL"]`; less, or nothing, where
   * the system has less.
   */
  readonly cage: readonly string[];
  /** Where programs are looked up. Nothing else of our environment reaches FFmpeg. */
  readonly path: string;
}

/** All that a child gets of an environment: no proxies, no credentials, no language of the user's. */
export const bareEnvironment = (path: string): NodeJS.ProcessEnv =>
  ({ PATH: path, LC_ALL: "C", AV_LOG_FORCE_NOCOLOR: "1" }) as unknown as NodeJS.ProcessEnv;

/** Whether the cage takes the network away. */
export const isOffline = ({ cage }: Pick<MediaTools, "cage">): boolean => cage.includes("--net");

/**
 * The cages that take the network away, the better first. A child of the same user could also read our environment
 * and memory in /proc, where our credentials are: the kernel refuses that to whoever is in another user namespace, or
 * has fewer capabilities than we. ptrace(2), "Ptrace access mode checking"; user_namespaces(7).
 */
const cages: readonly (readonly string[])[] = [
  ["unshare", "--user", "--net", "setpriv", "--no-new-privs"],
  // Root, where user namespaces are off: root without root's powers.
  ["unshare", "--net", "setpriv", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"],
  // Systems without setpriv.
  ["unshare", "--user", "--net"],
];

/**
 * Reads `FFMPEG_PATH`, `FFPROBE_PATH` and `PATH`, and finds out once per process start whether the kernel lets us
 * take the network away from a child and tie its life to ours. FFmpeg is held to files by `inputSandbox` in any case;
 * this is the second wall.
 * @throws AppError `worker-failed` when FFmpeg isn't there.
 */
export async function findMediaTools(env: Readonly<Record<string, string | undefined>>): Promise<MediaTools> {
  const path = env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  const works = (words: readonly string[]) =>
    execFileAsync(words[0]!, words.slice(1), { env: bareEnvironment(path) }).then(
      () => true,
      () => false,
    );
  let cage: readonly string[] = [];
  for (const words of cages) if (cage.length === 0 && (await works([...words, "true"]))) cage = words;
  // The last words, because the kernel forgets the signal when credentials change. prctl(2), PR_SET_PDEATHSIG.
  const leash = ["setpriv", "--pdeathsig", "KILL"];
  if (await works([...cage, ...leash, "true"])) cage = [...cage, ...leash];
  const tools = { ffmpeg: env.FFMPEG_PATH || "ffmpeg", ffprobe: env.FFPROBE_PATH || "ffprobe", cage, path };
  for (const program of [tools.ffmpeg, tools.ffprobe])
    if (!(await works([program, "-version"])))
      throw new AppError("worker-failed", {
        message: `${program} can't be started. Install FFmpeg 5.1 or later, or set FFMPEG_PATH and FFPROBE_PATH.`,
        retryable: false,
      });
  return tools;
}

/**
 * What may be opened as a video, by content, whatever the name says: the containers that admission knows. Never a
 * format that names other files or addresses (hls, dash, concat, image2, sdp, lavfi …): a playlist disguised as a
 * video must read nothing. FFmpeg hands both lists down to formats that it opens inside others.
 */
const allowedDemuxers = [
  "mov",
  "matroska",
  "mpegts",
  "mpeg",
  "mpegvideo",
  "avi",
  "flv",
  "asf",
  "asf_o",
  "ogg",
  "gif",
];

/** The options before every input that a person sent us; the one place that says what FFmpeg may read. */
export const inputSandbox: readonly string[] = [
  "-protocol_whitelist",
  "file,pipe",
  "-format_whitelist",
  allowedDemuxers.join(","),
];

/** An input by path: `file:` keeps a name like `concat:x` or `-y` from meaning anything. */
export const inputUrl = (path: string): string => `file:${path}`;
