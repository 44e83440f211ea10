/** The WebVTT that says which piece of which sheet belongs to which time; players show it over the time line (M11). */
import { stringifyWebvtt } from "@reelkeep/core/captions/webvtt";
import { storyboardName } from "@reelkeep/core/object-keys";
import type { OutputStore, StoredObject } from "./output-store.ts";
import type { EncodePlan } from "./plan.ts";
import { sheetColumns, tilesPerSheet } from "./plan-storyboard.ts";
import { putText } from "./put-file.ts";

/**
 * Stores it for sheets that encoding made, by window; returns its name, or null when there are none. A sheet's
 * place in a piece is `#xywh=` in pixels (W3C Media Fragments, §4.2.2).
 */
export async function storeStoryboard(
  store: OutputStore,
  plan: Pick<EncodePlan, "storyboard" | "windows">,
  sheetsByWindow: readonly (readonly StoredObject[])[],
  durationSeconds: number,
  signal?: AbortSignal,
): Promise<string | null> {
  const { everySeconds, tile } = plan.storyboard;
  const cues = plan.windows.flatMap(({ startSeconds, endSeconds }, window) => {
    const sheets = sheetsByWindow[window] ?? [];
    const until = Math.min(endSeconds ?? durationSeconds, durationSeconds);
    const count = Math.min(
      sheets.length * tilesPerSheet,
      Math.max(1, Math.ceil((until - startSeconds) / everySeconds - 1e-6)),
    );
    return Array.from({ length: count }, (_, i) => {
      const place = i % tilesPerSheet;
      const [column, row] = [place % sheetColumns, Math.floor(place / sheetColumns)];
      const { name } = sheets[Math.floor(i / tilesPerSheet)]!;
      const file = name.slice(name.lastIndexOf("/") + 1);
      const area = [column * tile.width, row * tile.height, tile.width, tile.height].join(",");
      const from = startSeconds + i * everySeconds;
      return {
        startSeconds: from,
        endSeconds: Math.max(Math.min(from + everySeconds, until), from + 0.001),
        settings: "",
        text: `${file}#xywh=${area}`,
      };
    });
  });
  if (cues.length === 0) return null;
  await putText(store, storyboardName, stringifyWebvtt(cues), signal);
  return storyboardName;
}
