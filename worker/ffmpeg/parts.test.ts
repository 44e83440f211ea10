import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { testTools } from "../testing/media.ts";
import { noCage } from "./cage.ts";
import { listParts } from "./parts.ts";

it("M6 FFmpeg tells its version and that it has what every video needs", async () => {
  const { version, libx264 } = await listParts(testTools);
  expect(version).toMatch(/^\d|^N-/);
  expect(libx264).toBe(true);
});

it("M6 a name within another one isn't taken for it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "reelkeep-parts-"));
  const ffmpeg = join(folder, "ffmpeg");
  const answer = " V....D libx264rgb   H.264 RGB, see libx264\n V..... zscale2\nvdpau\ncuda";
  await writeFile(ffmpeg, `#!/bin/sh\ncat <<'END'\n${answer}\nEND\n`);
  await chmod(ffmpeg, 0o755);
  const parts = await listParts({ ...testTools, cage: noCage, ffmpeg });
  await rm(folder, { recursive: true });
  expect(parts).toMatchObject({ libx264: false, zscale: false, cuda: true, h264Nvenc: false });
});
