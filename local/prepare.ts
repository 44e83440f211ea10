/** `node local/prepare.ts start|dev|transcode`: makes what the task runs from, where sources have changed. */
import { buildSite, makeSample } from "./build.ts";
import { bundle } from "./bundle.ts";

const [task] = process.argv.slice(2);

try {
  await bundle();
  if (task === "start" || task === "dev") await makeSample(process.env.FFMPEG_PATH || "ffmpeg");
  if (task === "start") await buildSite();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
