/** The small pictures along the time line (M11). */
import type { Size } from "@reelkeep/core/media/displayed-size";

export interface StoryboardPlan {
  /** One picture for so long. */
  readonly everySeconds: number;
  readonly tile: Size;
}

/** A sheet's pictures: ten seconds each fill one window of ten minutes, so that windows share no sheet. */
export const sheetColumns = 10;
export const sheetRows = 6;
export const tilesPerSheet = sheetColumns * sheetRows;

/** As large as a pointer's preview is shown. */
const tileLongSide = 160;
/** Some hundred pictures up to twenty minutes; then they stay ten seconds apart. */
const steps = [
  { belowSeconds: 120, everySeconds: 1 },
  { belowSeconds: 300, everySeconds: 2 },
  { belowSeconds: 1200, everySeconds: 5 },
];
const otherwiseSeconds = 10;

/** A storyboard for a film of this length, of pictures like its smallest rendition. */
export function planStoryboard(durationSeconds: number, { width, height }: Size): StoryboardPlan {
  const scale = Math.min(1, tileLongSide / Math.max(width, height));
  const even = (side: number) => Math.max(2, 2 * Math.round((side * scale) / 2));
  return {
    everySeconds:
      steps.find(({ belowSeconds }) => durationSeconds < belowSeconds)?.everySeconds ?? otherwiseSeconds,
    tile: { width: even(width), height: even(height) },
  };
}
