/** Films of any length take the same memory, and are published soon after their last picture. */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import type { Bench } from "./bench.ts";
import { bare } from "./ffmpeg-ways.ts";
import { costOf } from "./measure.ts";
import { makeFilm } from "./source.ts";
import { byWorker } from "./worker-way.ts";

const nodeMibMax = 150;
const ffmpegShareMax = 1.1;
/** From FFmpeg's end to publication, verification not counted. */
const tailSecondsMax = 2;
const films = [
  { seconds: 10, size: "1280x720" },
  { seconds: 600, size: "1280x720" },
  { seconds: 7200, size: "320x180" },
];

export async function benchLengths({ stack, report, profileName, planFor }: Bench): Promise<void> {
  report.say(
    "LENGTHS: peak memory of any one process, and from FFmpeg's end (its last, which may be a poster's) to the worker's.",
  );
  const rows: string[][] = [];
  for (const { seconds, size } of films) {
    const film = makeFilm(stack.dataDir, { seconds, size });
    const { cost } = await byWorker(stack, profileName, film);
    const to = path.join(stack.dataDir, "ways", "lengths");
    mkdirSync(to, { recursive: true });
    const limit = await costOf(bare(await planFor(film), film, to), stack.dataDir);
    rmSync(to, { recursive: true });
    rmSync(film);
    const at = stagesIn(cost.log);
    const verifySeconds = ((at.get("publish") ?? 0) - (at.get("verify") ?? 0)) / 1000;
    const tailSeconds = (cost.endedAtMs - (cost.lastSeenAtMs.ffmpeg ?? 0)) / 1000;
    const node = cost.peakMib.node ?? cost.peakMib.MainThread ?? 0;
    const [ours, theirs] = [cost.peakMib.ffmpeg ?? 0, limit.peakMib.ffmpeg ?? 0];
    rows.push([
      `${seconds} s, ${size}`,
      ...[node, ours, theirs].map((mib) => `${mib.toFixed(0)} MiB`),
      ...[cost.cpuSeconds / seconds, tailSeconds, verifySeconds].map((figure) => figure.toFixed(2)),
    ]);
    report.bound(node <= nodeMibMax, `Node takes ${node.toFixed(0)} MiB for ${seconds} s`);
    report.bound(
      ours <= theirs * ffmpegShareMax,
      `FFmpeg takes ${(ours / theirs).toFixed(2)} of b's for ${seconds} s`,
    );
    report.bound(
      tailSeconds <= tailSecondsMax + verifySeconds,
      `${seconds} s are published ${tailSeconds} s late`,
    );
  }
  report.table(["", "Node", "FFmpeg", "FFmpeg of b", "CPU s / s", "tail s", "verify s"], rows);
}

/** When each stage began, by the worker's log. */
function stagesIn(log: string): Map<string, number> {
  const stages = new Map<string, number>();
  for (const line of log.split("\n").filter((text) => text.startsWith("{"))) {
    const { time, stage, msg } = JSON.parse(line) as { time: number; stage?: string; msg: string };
    if (stage && msg === "stage") stages.set(stage, time);
  }
  return stages;
}
