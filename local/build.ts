import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { repositoryRoot } from "./repository.ts";
import { makeOnce } from "./stamp.ts";

/** What the site is built from; the build needs no database and no network. */
const sources = [
  "app",
  "components",
  "core",
  "db",
  "services",
  "aws",
  "public",
  "next.config.mjs",
  "postcss.config.mjs",
  "package-lock.json",
];

/** Builds the site for production unless it is up to date. @throws Error after Next's own output on stderr. */
export async function buildSite(): Promise<void> {
  await makeOnce(path.join(repositoryRoot, ".next", "reelkeep-sources.sha256"), sources, async () => {
    console.error("Building the site. This takes a minute and happens after each change of its sources …");
    const next = createRequire(import.meta.url).resolve("next/dist/bin/next");
    await run(process.execPath, [next, "build"], { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" });
  });
}

const sampleFile = path.join(repositoryRoot, "public", "sample", "reelkeep-sample.mp4");

/** Makes the clip that people without a video at hand can try, unless it is there. */
export async function makeSample(ffmpeg: string): Promise<void> {
  if (existsSync(sampleFile)) return;
  mkdirSync(path.dirname(sampleFile), { recursive: true });
  const half = `${sampleFile}.${process.pid}.mp4`;
  // A dusk sky whose colours drift.
  const picture =
    "gradients=size=1280x720:rate=30:duration=12:nb_colors=3:c0=0x16324f:c1=0x2a6f97:c2=0xf2c6a0:" +
    "x0=0:y0=0:x1=1280:y1=720:speed=0.00001,hue=h=16*sin(t/2)";
  const clock =
    "drawtext=text='%{pts\\:hms}':fontcolor=white@0.9:fontsize=56:x=(w-text_w)/2:y=(h-text_h)/2:" +
    "box=1:boxcolor=black@0.25:boxborderw=20";
  const sound =
    "sine=frequency=220:sample_rate=48000:duration=12,volume=0.15,afade=in:d=1,afade=out:st=11:d=1";
  const encode = (filter: string) =>
    run(ffmpeg, [
      ...["-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound],
      ...["-vf", filter, "-c:v", "libx264", "-preset", "veryfast", "-crf", "24", "-pix_fmt", "yuv420p"],
      ...["-c:a", "aac", "-b:a", "96k", "-shortest", "-movflags", "+faststart", half],
    ]);
  // Without a font on this machine there is no clock in the picture.
  await encode(clock).catch(() => encode("null"));
  renameSync(half, sampleFile);
}

/** Quiet unless it fails: then its own words go to stderr, for stdout belongs to the task that wants this. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const child = spawn(program, args, {
    cwd: repositoryRoot,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const words: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => words.push(data));
  const [code] = await once(child, "close");
  if (code === 0) return;
  process.stderr.write(Buffer.concat(words));
  throw new Error(`${path.basename(program)} ${args[0]} failed (code ${code}).`);
}
