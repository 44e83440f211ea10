/** The runs of FFmpeg that make a plan's output, one after the other. */
import type { LadderRendition } from "@reelkeep/core/media/ladder";
import { type EncodePlan, encodedRenditions, type PlannedSound } from "./plan.ts";
import type { Window } from "./plan-windows.ts";

/** One run. Whole in storage, it is a checkpoint that a later attempt goes on from. */
export interface Pass {
  /** Unlike the others', e.g. `window-003`. */
  readonly name: string;
  /** Whether the source's own picture is taken over in this run. */
  readonly copiesPicture: boolean;
  readonly sounds: readonly PlannedSound[];
  /** What of the pictures is encoded; null for none. */
  readonly window: Window | null;
  /** All renditions that this run writes segments of. */
  readonly renditions: readonly LadderRendition[];
}

/**
 * One run for a source that isn't long. Else sound and copied pictures, which cost little, come first and whole, and
 * then each window: an encoder of sound that begins anew in the middle would be heard.
 */
export function passesOf(plan: EncodePlan): readonly Pass[] {
  const { windows, sounds, renditions } = plan;
  const encoded = encodedRenditions(plan);
  const copiesPicture = plan.copied !== null;
  if (windows.length === 1)
    return [{ name: "whole", copiesPicture, sounds, window: windows[0]!, renditions }];
  const before = { name: "before", copiesPicture, sounds, window: null };
  return [
    ...(copiesPicture || sounds.length > 0
      ? [{ ...before, renditions: copiesPicture ? renditions.slice(0, 1) : [] }]
      : []),
    ...windows.map((window, i) => ({
      name: `window-${String(i + 1).padStart(3, "0")}`,
      copiesPicture: false,
      sounds: [],
      window,
      renditions: encoded,
    })),
  ];
}
