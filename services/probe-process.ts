/**
 * Looks into a container with mediabunny, in a process of its own: numbers in the file decide how long it works and
 * how much memory it takes. It has no credentials and no storage; its parent hands it byte ranges.
 */
import { Worker } from "node:worker_threads";
import { CustomSource, Input, MATROSKA, MP4, MPEG_TS, QTFF, WEBM } from "mediabunny";
import {
  type ContainerFacts,
  type FromProbe,
  type ProbeTask,
  type ToProbe,
  unknownFacts,
} from "./probe-protocol.ts";

const { sizeBytes, container, lifeMs }: ProbeTask = JSON.parse(process.argv[2]!);

// A loop over four thousand million samples hears neither a timer nor that the parent is gone; a thread does.
const watchdog = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${Number(lifeMs)})`;
new Worker(watchdog, { eval: true }).unref();
process.on("disconnect", () => process.exit());

const send = (message: FromProbe) => process.send!(message);
const reads = new Map<number, (bytes: Uint8Array) => void>();
process.on("message", ({ id, bytes }: ToProbe) => {
  reads.get(id)?.(bytes);
  reads.delete(id);
});

let lastId = 0;
const source = new CustomSource({
  getSize: () => sizeBytes,
  // Without it, each packet of a transport stream is a request: 25 000 for 10 MB.
  prefetchProfile: "network",
  read: (start, end) =>
    new Promise((resolve) => {
      const id = ++lastId;
      reads.set(id, resolve);
      send({ id, start, end });
    }),
});

/**
 * The list of formats is spelled out: mediabunny's "all formats" has HLS, and a playlist named .mp4 would make it
 * fetch the playlist's addresses.
 */
const input = new Input({ source, formats: [MP4, QTFF, MATROSKA, WEBM, MPEG_TS] });

async function readFacts(): Promise<ContainerFacts> {
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

send({ facts: await readFacts().catch(() => unknownFacts) });
