/** How soon the beginning of a film can be watched (M10). */
import { previewName } from "@reelkeep/core/object-keys";
import type { Bench } from "./bench.ts";
import { makeFilm } from "./source.ts";
import { admitFilm } from "./worker-way.ts";

const shareMax = 0.2;
const seconds = 60;

export async function benchPreview({ stack, report, profileName }: Bench): Promise<void> {
  const film = makeFilm(stack.dataDir, { seconds });
  await using admitted = await admitFilm(stack, profileName, film);
  const startedMs = Date.now();
  let previewMs: number | null = null;
  const { wallSeconds } = await admitted.work({
    enough: async () => {
      const prefix = previewMs === null ? await admitted.prefix() : null;
      if (prefix && (await admitted.store.head(prefix + previewName))) previewMs = Date.now() - startedMs;
      return false;
    },
  });
  const share = (previewMs ?? Number.POSITIVE_INFINITY) / 1000 / wallSeconds;
  report.say(
    `PREVIEW: of a film of ${seconds} s, 1080p30, the first part can be watched after ${((previewMs ?? Number.NaN) / 1000).toFixed(1)} s of ${wallSeconds.toFixed(1)} s (${(share * 100).toFixed(0)} %).`,
  );
  report.bound(share <= shareMax, `the preview comes after ${(share * 100).toFixed(0)} % of the time`);
}
