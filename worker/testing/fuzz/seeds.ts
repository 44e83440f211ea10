/** Files to be damaged: one of every container and of the usual codecs, and the corpus where it is present. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ffmpeg } from "../media.ts";

export interface Seed {
  readonly name: string;
  readonly bytes: Buffer;
}

const exact = ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"];
const picture = ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=12:duration=1.5"];
const tone = ["-f", "lavfi", "-i", "sine=duration=1.5:sample_rate=44100"];
const x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", "-pix_fmt", "yuv420p"];

const recipes: readonly (readonly [string, ...string[]])[] = [
  ["h264-aac.mp4", ...x264, "-c:a", "aac"],
  ["fragmented.mp4", ...x264, "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"],
  ["mpeg4-pcm.mov", "-c:v", "mpeg4", "-c:a", "pcm_s16le"],
  ["h264-aac.mkv", ...x264, "-c:a", "aac"],
  ["vp8-opus.webm", "-c:v", "libvpx", "-b:v", "200k", "-c:a", "libopus", "-ar", "48000"],
  ["mpeg2-mp2.ts", "-c:v", "mpeg2video", "-r", "25", "-c:a", "mp2"],
  ["mpeg1-mp2.mpg", "-c:v", "mpeg1video", "-r", "25", "-c:a", "mp2"],
  ["mpeg4-mp3.avi", "-c:v", "mpeg4", "-c:a", "libmp3lame"],
  ["flv1-mp3.flv", "-c:v", "flv", "-c:a", "libmp3lame"],
  ["wmv2-wma.wmv", "-c:v", "wmv2", "-c:a", "wmav2"],
  ["theora-vorbis.ogv", "-c:v", "libtheora", "-c:a", "libvorbis"],
  ["film.gif", "-an"],
];
/** Larger files cost time and are damaged no differently. */
const seedBytesMax = 3_000_000;

/** In an order that is the same everywhere. `folder` takes those that are made; `corpus` may be missing. */
export async function collectSeeds(folder: string, corpus: string): Promise<Seed[]> {
  const seeds: Seed[] = [];
  for (const [name, ...codecs] of recipes) {
    const path = join(folder, name);
    await ffmpeg(...picture, ...tone, ...codecs, ...exact, path);
    seeds.push({ name, bytes: await readFile(path) });
  }
  if (!existsSync(corpus)) return seeds;
  for (const name of (await readdir(corpus)).toSorted()) {
    if (/\.(json|md)$/.test(name)) continue;
    const bytes = await readFile(join(corpus, name));
    if (bytes.length > 0 && bytes.length <= seedBytesMax) seeds.push({ name: name.split("--")[0]!, bytes });
  }
  return seeds;
}
