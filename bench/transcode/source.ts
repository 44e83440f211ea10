import { execFileSync } from "node:child_process";
import path from "node:path";

/** Above what our largest rendition may cost. */
const cameras = ["-b:v", "8M", "-maxrate", "10M", "-bufsize", "16M"];
/** Within it, in closed groups of five seconds, and in colours that it names. */
const ours = [
  ...["-b:v", "5M", "-maxrate", "5M", "-bufsize", "8M", "-g", "150", "-sc_threshold", "0"],
  ...["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"],
];

/**
 * A film that costs an encoder what a real one does: a texture whose detail falls with its fineness as in nature
 * (each octave half as strong), over which the camera wanders, a lighter shape that moves against it, and grain.
 * H.264 of about 8 Mb/s with AAC, as cameras and editors write it.
 */
export function makeFilm(
  folder: string,
  { seconds, size = "1920x1080", conforms = false }: { seconds: number; size?: string; conforms?: boolean },
): string {
  const ffmpeg = process.env.FFMPEG_PATH || "ffmpeg";
  const texture = path.join(folder, "texture.png");
  const film = path.join(folder, `film-${seconds}-${size}${conforms ? "-conforming" : ""}.mp4`);
  const quiet = ["-nostdin", "-v", "error", "-y"];
  const octaves = [8, 16, 32, 64, 128, 256].map(
    (cells) => `color=gray:s=${cells * 4}x${cells * 3}:d=0.1:r=10`,
  );
  const noise = octaves.map(
    (_, i) => `[${i}]noise=alls=100:all_seed=${i + 1},scale=2560x1920:flags=bicubic[o${i}]`,
  );
  // Each blend halves what came before: the finest octave comes first and ends weakest.
  const blends = octaves
    .slice(1)
    .map((_, i) => `${i === 0 ? "[o5]" : `[b${i}]`}[o${4 - i}]blend=all_mode=average[b${i + 1}]`);
  execFileSync(ffmpeg, [
    ...quiet,
    ...octaves.flatMap((octave) => ["-f", "lavfi", "-i", octave]),
    ...[
      "-filter_complex",
      `${[...noise, ...blends].join(";")};[b5]eq=contrast=2.5:saturation=1.4,hue=h=20[out]`,
    ],
    ...["-map", "[out]", "-frames:v", "1", texture],
  ]);
  const [width, height] = size.split("x");
  const camera = `crop=${width}:${height}:x='320+300*sin(t/5)':y='400+380*sin(t/7)'`;
  const shape = `crop=iw/4:ih/3:x='800+700*cos(t/3)':y='600+500*sin(t/4)',eq=brightness=0.15`;
  const graph = [
    `[0]split[far][near];[far]${camera}[scene];[near]${shape}[thing]`,
    `[scene][thing]overlay=x='W/3+W/4*sin(t/2)':y='H/3+H/5*cos(t/3)',noise=alls=5:allf=t,format=yuv420p[picture]`,
  ];
  execFileSync(ffmpeg, [
    ...quiet,
    ...["-loop", "1", "-framerate", "30", "-t", String(seconds), "-i", texture],
    ...["-f", "lavfi", "-t", String(seconds), "-i", "anoisesrc=color=pink:amplitude=0.2:sample_rate=48000"],
    ...["-filter_complex", graph.join(";"), "-map", "[picture]", "-map", "1:a"],
    ...["-c:v", "libx264", "-preset", "veryfast", ...(conforms ? ours : cameras)],
    ...["-c:a", "aac", "-b:a", conforms ? "128k" : "256k", "-ac", "2", "-movflags", "+faststart", film],
  ]);
  return film;
}
