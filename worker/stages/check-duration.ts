/** Whether all of the source's picture arrived in the output. */
import { AppError } from "@reelkeep/core/errors";
import type { RunWatch } from "../ffmpeg/run.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import type { SourceProbe } from "./probe.ts";
import { scanPackets } from "./scan-packets.ts";

/** Loss of this much isn't looked into: a last frame that is held, a recording that begins within a group. */
const lossSecondsMin = 1.5;
const lossShareMax = 0.05;

/**
 * Compares the encoded length with the stated one. An output that is longer proves the header wrong and is right;
 * one that is much shorter is measured against the source's packets.
 * @throws AppError `unreadable-file` when the source is cut off (QuickTime and MP4 list every frame that ought to
 * be there) or has packets that couldn't be decoded.
 */
export async function checkDuration(
  tools: MediaTools,
  path: string,
  probe: SourceProbe,
  encodedSeconds: number,
  watch: RunWatch = {},
): Promise<void> {
  const lossMax = (seconds: number) => Math.max(lossSecondsMin, seconds * lossShareMax);
  const statedSeconds = probe.durationSeconds;
  if (encodedSeconds >= statedSeconds - lossMax(statedSeconds)) return;
  const span = await scanPackets(tools, path, probe.video.index, watch);
  if (!span) throw new AppError("unreadable-file");
  const { firstSeconds, lastSeconds, endSeconds } = span;
  const isCutOff =
    probe.container.startsWith("mov") && endSeconds - firstSeconds < statedSeconds - lossMax(statedSeconds);
  const packetSeconds = lastSeconds - firstSeconds;
  if (isCutOff || encodedSeconds < packetSeconds - lossMax(packetSeconds))
    throw new AppError("unreadable-file", { details: { statedSeconds, readableSeconds: encodedSeconds } });
}
