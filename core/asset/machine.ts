import { defineMachine } from "../machine.ts";

/** The lasting identity of a video or an image. Replacing its file never makes a new one. */
export const assetStates = ["active", "blocked", "deleted"] as const;

export const assetMachine = defineMachine({
  states: assetStates,
  initial: "active",
  transitions: {
    block: {
      from: ["active"],
      to: "blocked",
      guard: "none",
      when: "an admin stops all grants and publication",
    },
    unblock: { from: ["blocked"], to: "active", guard: "none", when: "an admin allows it again" },
    delete: {
      from: ["active", "blocked"],
      to: "deleted",
      guard: "none",
      when: "its owner or an admin deletes it; the ledger removes its objects",
    },
  },
});

export type AssetMove = keyof typeof assetMachine.transitions;

export const assetKinds = ["video", "image"] as const;
