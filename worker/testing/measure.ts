/** What FFmpeg's own meters say of a file; they share nothing with our filter graphs. */
import { ffmpeg } from "./media.ts";

/** Mean levels of the luma and of the two colour differences, 0 to 255. */
export interface Levels {
  readonly y: number;
  readonly u: number;
  readonly v: number;
}

/** Of every picture's `region` (FFmpeg's crop, e.g. `iw/2:ih:0:0`). */
export async function pictureLevels(path: string, region = "iw:ih:0:0"): Promise<Levels[]> {
  const meter = `crop=${region},format=yuv444p,signalstats,metadata=print:file=-`;
  const text = await ffmpeg("-noautorotate", "-i", path, "-an", "-vf", meter, "-f", "null", "-");
  const read = (name: string) =>
    [...text.matchAll(new RegExp(`${name}AVG=([\\d.]+)`, "g"))].map(([, level]) => Number(level));
  const [ys, us, vs] = [read("Y"), read("U"), read("V")];
  return ys.map((y, index) => ({ y, u: us[index]!, v: vs[index]! }));
}

/** Loudness and peak of each channel in dB of full scale; -Infinity for silence. */
export interface ChannelLevel {
  readonly rmsDb: number;
  readonly peakDb: number;
}

/** Of a file's sound between two times. */
export async function soundLevels(path: string, from = 0, to = 3600): Promise<ChannelLevel[]> {
  const meter = `atrim=${from}:${to},astats=measure_overall=none:measure_perchannel=RMS_level+Peak_level`;
  const text = await ffmpeg("-v", "info", "-i", path, "-vn", "-af", meter, "-f", "null", "-");
  const read = (name: string) =>
    [...text.matchAll(new RegExp(`${name} level dB: (\\S+)`, "g"))].map(([, level]) =>
      level === "-inf" ? Number.NEGATIVE_INFINITY : Number(level),
    );
  const peaks = read("Peak");
  return read("RMS").map((rmsDb, index) => ({ rmsDb, peakDb: peaks[index]! }));
}

/**
 * How much each picture's odd lines differ from its even ones, on average, 0 to 255. Where nothing but upright stripes
 * move, a whole picture has none of it, and two fields of different times have a lot.
 */
export async function fieldDifferences(path: string): Promise<number[]> {
  const graph =
    "split[a][b];[a]field=top[top];[b]field=bottom[bottom];[top][bottom]blend=all_mode=difference,signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-";
  const text = await ffmpeg("-i", path, "-an", "-filter_complex", graph, "-f", "null", "-");
  return [...text.matchAll(/YAVG=([\d.]+)/g)].map(([, level]) => Number(level));
}
