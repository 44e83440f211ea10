/** The FFmpeg programs in use, how they are started, and what they may open. */
import { AppError } from "@reelkeep/core/errors";
import { type Cage, findCage, noCage, worksIn } from "./cage.ts";
import { limitWords, probeLimits } from "./limits.ts";

/** How FFmpeg is started. */
export interface MediaTools {
  /** Paths, or names looked up in `path`. */
  readonly ffmpeg: string;
  readonly ffprobe: string;
  readonly cage: Cage;
  /** Whether prlimit can hold a program to its limits here. */
  readonly hasLimits: boolean;
  /** Where programs are looked up. Nothing else of our environment reaches FFmpeg. */
  readonly path: string;
}

/**
 * Reads `FFMPEG_PATH`, `FFPROBE_PATH` and `PATH`, and finds out once per process start which cage this system has.
 * FFmpeg is held to the file that it is given by `inputSandbox` in any case; this is the second wall.
 * @throws AppError `worker-failed` when FFmpeg isn't there.
 */
export async function findMediaTools(env: Readonly<Record<string, string | undefined>>): Promise<MediaTools> {
  const path = env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  const [ffmpeg, ffprobe] = [env.FFMPEG_PATH || "ffmpeg", env.FFPROBE_PATH || "ffprobe"];
  for (const program of [ffmpeg, ffprobe])
    if (!(await worksIn(noCage, path, [program, "-version"])))
      throw new AppError("worker-failed", {
        message: `${program} can't be started. Install FFmpeg 5.1 or later, or set FFMPEG_PATH and FFPROBE_PATH.`,
        retryable: false,
      });
  const cage = await findCage(path, [ffmpeg, ffprobe]);
  const hasLimits = await worksIn(cage, path, [...limitWords(probeLimits, cage), "true"]);
  return { ffmpeg, ffprobe, cage, hasLimits, path };
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
