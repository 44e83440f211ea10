import type { EncodePlan } from "./plan.ts";
import { oneWindow } from "./plan-windows.ts";

/** A plan's short cuts don't fit its source after all; the plain way does the same work more slowly. */
export class PlanRefused extends Error {
  override readonly name = "PlanRefused";

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** The same result without short cuts: nothing is taken over, and one run does it all. */
export const plainPlan = (plan: EncodePlan): EncodePlan => ({
  ...plan,
  copied: null,
  sounds: plan.sounds.map((sound) => ({ ...sound, isCopied: false })),
  windows: oneWindow,
});
