/**
 * The cheap look into a container, written once: the browser makes it before it sends a file, admission makes it
 * again of what arrived. Both read the same ranges under the same limit, so that they learn the same.
 *
 * Numbers in the file decide how long the reader works and how much memory it takes, in loops that nothing
 * interrupts: whoever calls this does so in a process or a thread that can be ended.
 */
import { CustomSource, Input, MATROSKA, MP4, MPEG_TS, QTFF, WEBM } from "mediabunny";
import { type ContainerFacts, isLegible, unknownFacts } from "./container-facts.ts";
import type { VideoContainer } from "./signature.ts";

/** A file that is read in ranges, wherever it lies. */
export interface RangedFile {
  readonly sizeBytes: number;
  /** By its signature. */
  readonly container: VideoContainer;
  /** The bytes `start` to before `end`. */
  readonly read: (start: number, end: number) => Promise<Uint8Array>;
}

/** A look reads a few ranges, never the file: an index at the end costs two, that of a film of hours some megabytes. */
const bytesMax = 64 * 1024 * 1024;

/**
 * Spelled out: mediabunny's "all formats" has HLS, and a playlist named .mp4 would make it fetch the playlist's
 * addresses.
 */
const formats = [MP4, QTFF, MATROSKA, WEBM, MPEG_TS];

/** What the container tells of itself. Never throws: what can't be read isn't known. */
export async function readContainer(file: RangedFile): Promise<ContainerFacts> {
  if (!isLegible(file.container)) return unknownFacts;
  const input = new Input({ source: sourceOf(file), formats });
  try {
    return await readFacts(input, file.container);
  } catch {
    return unknownFacts;
  } finally {
    input.dispose();
  }
}

function sourceOf({ sizeBytes, read }: RangedFile): CustomSource {
  let bytesAsked = 0;
  return new CustomSource({
    getSize: () => sizeBytes,
    // Without it, each packet of a transport stream is a request: 25 000 for 10 MB.
    prefetchProfile: "network",
    read: async (start, end) => {
      bytesAsked += end - start;
      if (bytesAsked > bytesMax) throw new RangeError(`a look reads ${bytesMax} bytes at most`);
      return await read(start, end);
    },
    // What was read ahead in vain is read again when it is wanted.
    handleUnhandledError: () => {},
  });
}

async function readFacts(input: Input, container: VideoContainer): Promise<ContainerFacts> {
  const tracks = await input.getTracks();
  const video = await input.getPrimaryVideoTrack();
  // Of a transport stream it doesn't know every codec, so there an absent picture proves nothing.
  if (!video)
    return { ...unknownFacts, hasVideo: tracks.length > 0 && container !== "mpeg-ts" ? false : null };
  // Timestamps may begin anywhere, in broadcast recordings at hours.
  const durationSeconds = (await video.computeDuration()) - Math.max(0, await input.getFirstTimestamp());
  return {
    durationSeconds: Number.isFinite(durationSeconds) && durationSeconds > 0 ? durationSeconds : null,
    width: (await video.getDisplayWidth()) || null,
    height: (await video.getDisplayHeight()) || null,
    hasVideo: true,
  };
}
